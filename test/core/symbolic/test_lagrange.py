# Copyright 2026 robot_dynamics_ros contributors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

from __future__ import annotations

from pathlib import Path
import sys

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.dynamics import (
    coriolis_matrix,
    crba,
    generalized_gravity,
    kinetic_energy,
    potential_energy,
    rnea,
)
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    ModelError,
    NonFiniteError,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import Inertial
from robot_dynamics_ros.core.model.dh import description_from_dh, DhRow
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.symbolic.lagrange import lagrange, LagrangeDynamics
import robots

pytest.importorskip('sympy')

Array = NDArray[np.float64]
URDF = Path(__file__).resolve().parents[3] / 'urdf'
SEVEN = (
    'pendulum', 'reacher', 'cart_pole', 'acrobot', 'cart_two_pole', 'three_link_acrobot',
    'cart_three_pole',
)  # fmt: skip


def dh_arm(convention: str) -> RobotModel:
    """Return a spatial 3R with full inertias; the modified one has a twist of no special angle."""
    rng = np.random.default_rng(17)
    table = [(np.pi / 2, 0.1, 0.3, 0.2), (0.0, 0.4, 0.0, -0.5), (-np.pi / 2, 0.3, 0.1, 0.0)]
    if convention == 'modified':
        table[1] = (-1.1, 0.4, 0.0, -0.5)
    rows = [DhRow(*row, inertial=robots.random_inertial(rng)) for row in table]
    return build_model(description_from_dh(rows, convention=convention), gravity=(1.0, -2.0, -9.0))


def models() -> dict[str, RobotModel]:
    found = {
        name: load_urdf(URDF / 'benchmark' / f'{name}.urdf', gravity=(0.0, 0.0, -9.8))
        for name in SEVEN
    }
    for name in ('planar_2r_point_mass', 'planar_2r_rods', 'five_link_biped'):
        found[name] = load_urdf(URDF / f'{name}.urdf')
    found['spatial_3r_modified'] = dh_arm('modified')
    found['spatial_3r_standard'] = dh_arm('standard')
    found['prismatic'] = build_model(robots.prismatic())
    found['branched'] = build_model(robots.branched())
    found['mimic_chain'] = build_model(robots.gripper(), armature={'right_finger': 0.2})
    locks = {'joint_1': 0.4, 'joint_4': -0.3, 'joint_5': 1.0}
    found['locked_loaded_six_axis'] = build_model(
        robots.six_axis(),
        locked=locks,
        armature={'joint_2': 0.7},
        payload=Payload(1.2, 'tool', np.array([0.02, 0.01, 0.1]), 0.01 * np.eye(3)),
    )
    return found


MODELS = models()


@pytest.fixture(scope='module', params=MODELS, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[RobotModel, LagrangeDynamics]:
    model = MODELS[request.param]
    return model, lagrange(model)


def test_formulas_agree_with_the_numeric_core(pair: tuple[RobotModel, LagrangeDynamics]) -> None:
    model, dynamics = pair
    assert dynamics.joint_names == model.joint_names
    functions = dynamics.functions
    rng = np.random.default_rng(9)
    zero = np.zeros(model.nv)
    level = functions['potential_energy'](zero) - potential_energy(model, zero)
    for _ in range(5):
        q, v, a = rng.uniform(-2.0, 2.0, (3, model.nv))
        # The two ways share the description only; 1e-9 is what is asked, 1e-13 was seen.
        mass, coriolis = functions['mass_matrix'](q), functions['coriolis_matrix'](q, v)
        gravity = functions['generalized_gravity'](q)
        np.testing.assert_allclose(mass, crba(model, q), rtol=0, atol=1e-9)
        np.testing.assert_allclose(coriolis, coriolis_matrix(model, q, v), rtol=0, atol=1e-9)
        np.testing.assert_allclose(gravity, generalized_gravity(model, q), rtol=0, atol=1e-9)
        tau = mass @ a + coriolis @ v + gravity
        np.testing.assert_allclose(tau, rnea(model, q, v, a), rtol=0, atol=1e-9)
        kinetic = functions['kinetic_energy'](q, v)
        assert kinetic == pytest.approx(kinetic_energy(model, q, v), abs=1e-9)
        # The zero of the potential is a matter of choice.
        potential = functions['potential_energy'](q) - level
        assert potential == pytest.approx(potential_energy(model, q), abs=1e-9)


def two_link_with_inertia() -> tuple[RobotModel, dict[str, float]]:
    """Return the 2R with point masses at elbow and tip and rotational inertias of the links."""
    p = {'I1': 0.03, 'I2': 0.02, 'm2': 1.3, 'mE': 0.7, 'l1': 0.5, 'l2': 0.4}
    elbow = Inertial(p['m2'], np.array([p['l1'], 0, 0]), np.diag([p['I1'], p['I1'], p['I1']]))
    tip = Inertial(p['mE'], np.array([p['l2'], 0, 0]), np.diag([p['I2'], p['I2'], p['I2']]))
    rows = [DhRow(inertial=elbow), DhRow(a=p['l1'], inertial=tip)]
    arm = description_from_dh(rows, convention='modified')
    return build_model(arm, gravity=(0.0, -9.81, 0.0)), p


def test_point_masses_and_inertias_give_the_written_closed_form() -> None:
    model, p = two_link_with_inertia()
    functions = lagrange(model).functions
    rng = np.random.default_rng(10)
    for _ in range(10):
        (x1, x2), (v1, v2) = rng.uniform(-3.0, 3.0, (2, 2))
        cross = p['mE'] * p['l1'] * p['l2']
        m22 = p['I2'] + p['mE'] * p['l2'] ** 2
        m12 = m22 + cross * np.cos(x2)
        m11 = p['I1'] + (p['m2'] + p['mE']) * p['l1'] ** 2 + m12 + cross * np.cos(x2)
        forces = cross * np.sin(x2) * np.array([-(2.0 * v1 * v2 + v2**2), v1**2])
        g2 = p['mE'] * 9.81 * p['l2'] * np.cos(x1 + x2)
        g1 = (p['m2'] + p['mE']) * 9.81 * p['l1'] * np.cos(x1) + g2
        q, v = np.array([x1, x2]), np.array([v1, v2])
        mass = functions['mass_matrix'](q)
        np.testing.assert_allclose(mass, [[m11, m12], [m12, m22]], rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            functions['coriolis_matrix'](q, v) @ v, forces, rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            functions['generalized_gravity'](q), [g1, g2], rtol=0, atol=1e-13
        )


def test_rods_give_the_worked_torques() -> None:
    functions = lagrange(MODELS['planar_2r_rods']).functions
    q, v, a = np.array([0.3, 0.7]), np.array([1.0, 2.0]), np.array([0.5, -1.0])
    tau = (
        functions['mass_matrix'](q) @ a
        + functions['coriolis_matrix'](q, v) @ v
        + functions['generalized_gravity'](q)
    )
    np.testing.assert_allclose(tau, [10.098217, 1.136070], atol=5e-7)  # the printed digits


def test_formulas_of_a_pendulum_are_the_known_ones() -> None:
    import sympy

    dynamics = lagrange(MODELS['pendulum'])
    (q,), (v,) = dynamics.q, dynamics.v
    assert [str(q), str(v)] == ['q_1', 'dq_1']
    known = {
        dynamics.mass_matrix[0]: 0.1 / 3.0,
        dynamics.kinetic_energy: 0.1 / 6.0 * v**2,
        dynamics.potential_energy: 0.49 * sympy.cos(q),
        dynamics.generalized_gravity[0]: -0.49 * sympy.sin(q),
        dynamics.coriolis_matrix[0]: 0,
    }
    for formula, expected in known.items():
        difference = sympy.simplify(formula - expected)
        at = {q: sympy.Float(0.7), v: sympy.Float(1.3)}
        assert abs(float(sympy.sympify(difference).subs(at))) < 1e-15


def test_robots_beyond_its_reach_are_refused() -> None:
    with pytest.raises(ModelError, match="symbolic derivation .* 'plane' is planar"):
        lagrange(build_model(robots.mobile()))
    with pytest.raises(ModelError, match="'root_joint' is floating"):
        lagrange(build_model(robots.branched(), floating_base=True))


def test_functions_look_at_their_arguments() -> None:
    functions = lagrange(MODELS['acrobot']).functions
    with pytest.raises(DimensionError, match='q has shape'):
        functions['mass_matrix']([0.0])
    with pytest.raises(DimensionError, match='v has shape'):
        functions['kinetic_energy']([0.0, 0.0], [0.0])
    with pytest.raises(NonFiniteError, match='q holds'):
        functions['generalized_gravity']([np.nan, 0.0])


def test_without_sympy_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'sympy', None)  # as where it is not installed
    with pytest.raises(ConfigurationError, match='needs sympy.*pip install sympy'):
        lagrange(MODELS['pendulum'])


def test_sympy_is_imported_only_when_used() -> None:
    import subprocess

    program = (
        'import sys, robot_dynamics_ros.core.symbolic.export\n'
        'raise SystemExit("sympy" in sys.modules)'
    )
    assert subprocess.run([sys.executable, '-c', program], check=False).returncode == 0

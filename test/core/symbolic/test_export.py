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

from collections.abc import Callable
import ctypes
from pathlib import Path
import shutil
import subprocess
from typing import Any

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
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.symbolic.export import c_source, python_source
from robot_dynamics_ros.core.symbolic.lagrange import lagrange, LagrangeDynamics
import robots

pytest.importorskip('sympy')

Array = NDArray[np.float64]
URDF = Path(__file__).resolve().parents[3] / 'urdf'
COMPILER = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
MODELS = {
    'five_link_biped': load_urdf(URDF / 'five_link_biped.urdf'),
    'cart_three_pole': load_urdf(
        URDF / 'benchmark' / 'cart_three_pole.urdf', gravity=(0.0, 0.0, -9.8)
    ),
    'prismatic': build_model(robots.prismatic()),
    'spatial_3r': build_model(
        robots.six_axis(), locked={'joint_4': 0.3, 'joint_5': -0.4, 'joint_6': 0.0}
    ),
}


@pytest.fixture(scope='module', params=MODELS, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[RobotModel, LagrangeDynamics]:
    model = MODELS[request.param]
    return model, lagrange(model)


def check(model: RobotModel, call: Callable[..., Any]) -> None:
    """Compare exported functions, ``call(name, *vectors)``, with the numeric core."""
    n = model.nv
    rng = np.random.default_rng(12)
    zero = [0.0] * n
    level = call('potential_energy', zero) - potential_energy(model, zero)
    for _ in range(5):
        q, v, a = rng.uniform(-2.0, 2.0, (3, n))
        expected = {
            'mass_matrix': crba(model, q),
            'generalized_gravity': generalized_gravity(model, q),
            'potential_energy': potential_energy(model, q) + level,
        }
        for name, value in expected.items():
            got = np.reshape(call(name, list(q)), np.shape(value))
            np.testing.assert_allclose(got, value, rtol=0, atol=1e-9)
        coriolis = np.reshape(call('coriolis_matrix', list(q), list(v)), (n, n))
        np.testing.assert_allclose(coriolis, coriolis_matrix(model, q, v), rtol=0, atol=1e-9)
        energy = call('kinetic_energy', list(q), list(v))
        assert energy == pytest.approx(kinetic_energy(model, q, v), abs=1e-9)
        tau = call('inverse_dynamics', list(q), list(v), list(a))
        np.testing.assert_allclose(tau, rnea(model, q, v, a), rtol=0, atol=1e-9)


def test_python_module_stands_alone_and_agrees(
    pair: tuple[RobotModel, LagrangeDynamics],
) -> None:
    model, dynamics = pair
    source = python_source(dynamics)
    imports = [line for line in source.splitlines() if line.startswith(('import', 'from'))]
    assert imports == ['import math']
    module: dict[str, Any] = {}
    exec(compile(source, 'exported.py', 'exec'), module)
    assert model.name in module['__doc__']
    assert all(joint in module['__doc__'] for joint in model.joint_names)
    check(model, lambda name, *vectors: module[name](*vectors))


@pytest.mark.skipif(COMPILER is None, reason='no C compiler')
def test_c_code_compiles_without_a_warning_and_agrees(
    pair: tuple[RobotModel, LagrangeDynamics], tmp_path: Path
) -> None:
    model, dynamics = pair
    source, library = tmp_path / 'dynamics.c', tmp_path / 'dynamics.so'
    source.write_text(c_source(dynamics, 'arm'), encoding='utf-8')
    options = ['-std=c99', '-O1', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror']
    subprocess.run(
        [str(COMPILER), *options, '-shared', '-fPIC', str(source), '-o', str(library), '-lm'],
        check=True,
    )
    code = ctypes.CDLL(str(library))
    n = model.nv

    def call(name: str, *vectors: list[float]) -> Any:
        function = getattr(code, f'arm_{name}')
        arguments = [(ctypes.c_double * n)(*vector) for vector in vectors]
        if name.endswith('energy'):
            function.restype = ctypes.c_double
            return function(*arguments)
        out = (ctypes.c_double * (n * n if name.endswith('matrix') else n))()
        function(*arguments, out)
        return list(out)

    check(model, call)


def test_common_subexpressions_are_computed_once() -> None:
    dynamics = lagrange(MODELS['five_link_biped'])
    source = python_source(dynamics)
    for angle in ('q[0] + q[1]', 'q[0] + q[1] + q[2]'):
        per_function = source.split('def ')[1:]
        assert all(part.count(f'math.sin({angle})') <= 1 for part in per_function)
    body = source.split('def mass_matrix')[1].split('def ')[0]
    assert body.count('math.') <= 10  # sine and cosine of five angles


@pytest.mark.parametrize('prefix', ['', '1arm', 'a b', 'x);', 'ä'])
def test_prefix_that_is_no_identifier_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigurationError, match='expected an identifier of C'):
        c_source(lagrange(load_urdf(URDF / 'pendulum.urdf')), prefix)


def test_names_from_a_robot_cannot_break_out_of_the_comment() -> None:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.1), (1.0, 1.0, 1.0))
    swing = robots.joint('*/ int x; """', 'continuous', 'base', 'bob')
    dynamics = lagrange(build_model(robots.robot('9 */ """ \n#', [bob], [swing])))
    code, module = c_source(dynamics), python_source(dynamics)
    assert code.count('*/') == 1
    assert module.count('"""') == 2
    assert 'void robot_9_' in code

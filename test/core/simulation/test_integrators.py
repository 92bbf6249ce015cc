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

from math import cos, inf, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation
import xacro

from robot_dynamics_ros.core.dynamics import (
    centroidal_momentum,
    difference,
    frame_placement,
    integrate,
    kinetic_energy_batch,
    neutral,
    potential_energy_batch,
)
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import Link, RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.integrators import (
    FreeMotion,
    INTEGRATORS,
    Motion,
    simulate_motion,
)
from robot_dynamics_ros.resources import urdf_path
import robots

Array = NDArray[np.float64]
BENCHMARK = Path(__file__).resolve().parents[3] / 'urdf' / 'benchmark'
ORDERS = {'euler': 1, 'semi_implicit': 1, 'midpoint': 2, 'heun': 2, 'rk4': 4}
MODELS = robots.named_models()


def energies(model: RobotModel, motion: Motion) -> Array:
    return kinetic_energy_batch(model, motion.q, motion.v) + potential_energy_batch(
        model, motion.q
    )


def distance(model: RobotModel, one: Motion, other: Motion) -> float:
    """Return the largest difference at the end."""
    q = difference(model, one.q[-1], other.q[-1])
    return float(max(np.abs(q).max(), np.abs(one.v[-1] - other.v[-1]).max()))


# ------------------------------------------------------------------ order and energy


@pytest.mark.parametrize('integrator', ORDERS)
@pytest.mark.parametrize(
    'name',
    # a 2R; floating trees; mimic joints; free, planar and mimic joints deep in random trees
    ['two_link', 'branched_floating', 'gripper_floating', 'random_0', 'random_1', 'random_3'],
)
def test_order_of_convergence_is_that_of_the_method(name: str, integrator: str) -> None:
    model = MODELS[name]
    s = robots.random_state(model, np.random.default_rng(5))
    duration = 0.25
    true = simulate_motion(model, s.q, s.v, s.tau, dt=duration, steps=1, integrator='adaptive')
    errors = []
    for steps in (100, 200):
        got = simulate_motion(
            model, s.q, s.v, s.tau, dt=duration / steps, steps=steps, integrator=integrator
        )
        errors.append(distance(model, got, true))
    # The next term of the error bends the line a little: 0.04 was seen.
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.1)


YARDSTICKS = {
    ('double_pendulum_point_mass', 'euler', 1e-3): (1.482, 5e-4),
    ('double_pendulum_point_mass', 'semi_implicit', 1e-3): (0.566, 6e-4),
    ('double_pendulum_point_mass', 'rk4', 1e-3): (3.15e-8, 1e-10),
    ('double_pendulum_point_mass', 'rk4', 1e-2): (2.5e-4, 5e-6),
    ('double_pendulum_rods', 'euler', 1e-3): (1.718, 1e-3),
    ('double_pendulum_rods', 'semi_implicit', 1e-3): (0.444, 1e-3),
    ('double_pendulum_rods', 'rk4', 1e-3): (1.46e-7, 1e-9),
    ('double_pendulum_rods', 'rk4', 1e-2): (2.0e-3, 5e-5),
}
"""Largest error of the energy [J] within 10 s from rest with both links level: printed digits."""


@pytest.mark.parametrize(('name', 'integrator', 'dt'), YARDSTICKS)
def test_d14_energy_error_of_a_free_double_pendulum(name: str, integrator: str, dt: float) -> None:
    model = load_urdf(BENCHMARK / f'{name}.urdf')
    zero = np.zeros(2)
    motion = simulate_motion(
        model, zero, zero, zero, dt=dt, steps=round(10.0 / dt), integrator=integrator
    )
    energy = energies(model, motion)
    expected, tolerance = YARDSTICKS[name, integrator, dt]
    assert np.abs(energy - energy[0]).max() == pytest.approx(expected, abs=tolerance)


def test_reference_keeps_the_energy() -> None:
    model = load_urdf(BENCHMARK / 'double_pendulum_point_mass.urdf')
    zero = np.zeros(2)
    motion = simulate_motion(model, zero, zero, zero, dt=0.1, steps=100, integrator='adaptive')
    energy = energies(model, motion)
    assert np.abs(energy - energy[0]).max() < 1e-10  # 1e-12 a step, some 1000 steps


# ------------------------------------------------------------------ free bodies


def free_body(moments: tuple[float, float, float], com: Any = (0.0, 0.0, 0.0)) -> RobotModel:
    return build_model(
        RobotDescription('body', (robots.body('body', 2.0, com, moments),), ()),
        floating_base=True,
        gravity=(0.0, 0.0, 0.0),
    )


@pytest.mark.parametrize('integrator', ORDERS)
def test_symmetric_body_tumbles_as_the_closed_form_says(integrator: str) -> None:
    """R(t) = exp(t L / I1) R(0) exp(t (1 - I3 / I1) w3 e3) for a torque-free symmetric body."""
    first, third = 0.4, 0.1
    model = free_body((first, first, third))
    spin, shift = np.array([0.9, -0.4, 2.5]), np.array([0.3, -0.2, 0.1])
    start = Rotation.from_rotvec([0.3, 1.1, -0.7])
    q = np.concatenate(([1.0, 2.0, 3.0], start.as_quat()))
    v = np.concatenate((start.inv().apply(shift), spin))
    duration = 2.0
    momentum = start.apply(spin * [first, first, third])
    turned = (
        Rotation.from_rotvec(duration * momentum / first)
        * start
        * Rotation.from_rotvec([0.0, 0.0, duration * (1.0 - third / first) * spin[2]])
    )
    true = np.concatenate((q[:3] + duration * shift, turned.as_quat()))
    errors = []
    for steps in (200, 400):
        motion = simulate_motion(
            model, q, v, np.zeros(6), dt=duration / steps, steps=steps, integrator=integrator
        )
        errors.append(np.abs(difference(model, true, motion.q[-1])).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.1)
    assert errors[1] < {1: 0.1, 2: 1e-3, 4: 1e-8}[ORDERS[integrator]]


@pytest.mark.parametrize(
    # Half the step, a sixteenth of the error: 1 mrad a step is far below what tumbles.
    ('integrator', 'drift'),
    [('rk4', 1e-9), ('heun', 1e-4), ('midpoint', 1e-4)],
)
def test_tumbling_body_keeps_momentum_energy_and_unit_quaternion(
    integrator: str, drift: float
) -> None:
    model = free_body((0.05, 0.12, 0.15), com=(0.03, -0.02, 0.05))
    # Close to the middle axis: it turns over again and again.
    q, v = neutral(model), np.array([0.2, -0.1, 0.3, 0.02, 3.0, 0.01])
    motion = simulate_motion(
        model, q, v, np.zeros(6), dt=1e-3, steps=20000, integrator=integrator, record_every=50
    )
    assert motion.v[:, 4].min() < -2.0  # it has turned over
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, rtol=0, atol=4e-16)
    energy = energies(model, motion)
    assert np.abs(energy / energy[0] - 1.0).max() < drift
    momenta = np.array([centroidal_momentum(model, q, v) for q, v in zip(motion.q, motion.v)])
    assert np.abs(momenta - momenta[0]).max() < drift * np.linalg.norm(momenta[0])


def test_length_of_a_quaternion_changes_nothing() -> None:
    model = MODELS['branched_floating']
    s = robots.random_state(model, np.random.default_rng(2))
    scaled = s.q.copy()
    scaled[3:7] *= 2.5
    one, other = (simulate_motion(model, q, s.v, s.tau, dt=1e-3, steps=100) for q in (s.q, scaled))
    np.testing.assert_allclose(one.q, other.q, atol=1e-13)  # rounding of 100 steps


def test_one_euler_step_is_a_screw_motion() -> None:
    model = MODELS['random_1']
    s = robots.random_state(model, np.random.default_rng(4))
    for scale in (1e-3, 1.0):  # both branches of the exponential
        got = simulate_motion(model, s.q, scale * s.v, s.tau, dt=0.5, steps=1, integrator='euler')
        expected = integrate(model, s.q, 0.5 * scale * s.v)
        np.testing.assert_allclose(got.q[-1], expected, atol=1e-14)  # rounding


# ------------------------------------------------------------------ spinning top

MASS, ARM, ACROSS, ALONG, GRAVITY = 0.5, 0.1, 0.006, 0.0008, 9.81
"""A top: mass, tip to centre of mass, moments of inertia about the tip across and along."""


def top() -> RobotModel:
    """Return a top on a fixed tip: precession, tilt and spin, one after the other."""
    moment = ACROSS - MASS * ARM**2
    links = [
        Link('fork'),
        Link('cradle'),
        robots.body('top', MASS, (0.0, 0.0, ARM), (moment, moment, ALONG)),
    ]
    joints = [
        robots.joint('precession', 'continuous', 'base', 'fork', axis=robots.Z),
        robots.joint('tilt', 'continuous', 'fork', 'cradle', axis=robots.Y),
        robots.joint('spin', 'continuous', 'cradle', 'top', axis=robots.Z),
    ]
    return build_model(robots.robot('top', links, joints), gravity=(0.0, 0.0, -GRAVITY))


def test_top_precesses_steadily() -> None:
    """I1 W^2 cos(tilt) - I3 w3 W + m g l = 0, its slow root, with w3 the whole spin."""
    tilt, spin = 0.5, 300.0
    weight = MASS * GRAVITY * ARM
    root = np.sqrt((ALONG * spin) ** 2 - 4.0 * ACROSS * cos(tilt) * weight)
    rate = (ALONG * spin - root) / (2.0 * ACROSS * cos(tilt))
    model = top()
    v = [rate, 0.0, spin - rate * cos(tilt)]
    motion = simulate_motion(model, [0.0, tilt, 0.0], v, np.zeros(3), dt=1e-3, steps=2000)
    measured = motion.q[-1, 0] / motion.time[-1]
    assert measured == pytest.approx(rate, rel=1e-6)  # 1 ms, nutation of 40 rad/s
    assert np.abs(motion.q[:, 1] - tilt).max() < 1e-6


def test_top_released_at_rest_precesses_at_the_rate_of_a_fast_top() -> None:
    tilt, spin = 0.5, 1000.0
    model = top()
    motion = simulate_motion(
        model, [0.0, tilt, 0.0], [0.0, 0.0, spin], np.zeros(3), dt=5e-4, steps=8000
    )
    rate = np.polyfit(motion.time, motion.q[:, 0], 1)[0]
    # m g l / (I3 w3); the next term of the series is 0.4 % of it, m g l I1 cos(tilt) / (I3 w3)^2
    assert rate == pytest.approx(MASS * GRAVITY * ARM / (ALONG * spin), rel=0.01)


def test_free_top_on_a_held_tip_agrees_with_the_gimbal() -> None:
    """The same top as a floating body, its tip held by the reaction of the gimbal's base."""
    tilt, spin = 0.5, 300.0
    gimbal = top()
    moment = ACROSS - MASS * ARM**2
    body = robots.body('top', MASS, (0.0, 0.0, ARM), (moment, moment, ALONG))
    free = build_model(
        RobotDescription('top', (body,), ()), floating_base=True, gravity=(0.0, 0.0, -GRAVITY)
    )

    def hold(_: float, q: Array, v: Array) -> Array:
        """Return the force at the tip that keeps its acceleration at zero."""
        down = Rotation.from_quat(q[3:]).inv().apply([0.0, 0.0, -GRAVITY])
        com, spin = np.array([0.0, 0.0, ARM]), v[3:]
        inertia = np.diag([ACROSS, ACROSS, ALONG])
        turn = np.linalg.solve(
            inertia, MASS * np.cross(com, down) - np.cross(spin, inertia @ spin)
        )
        force = MASS * (np.cross(turn, com) + np.cross(spin, np.cross(spin, com)) - down)
        return np.concatenate((force, np.zeros(3)))

    q = np.concatenate((np.zeros(3), Rotation.from_rotvec([0.0, tilt, 0.0]).as_quat()))
    motion = simulate_motion(free, q, [0, 0, 0, 0, 0, spin], hold, dt=2.5e-4, steps=800)
    other = simulate_motion(
        gimbal, [0.0, tilt, 0.0], [0.0, 0.0, spin], np.zeros(3), dt=2.5e-4, steps=800
    )
    pose = frame_placement(gimbal, other.q[-1], 'top')
    turn = Rotation.from_quat(motion.q[-1, 3:]).as_matrix()
    np.testing.assert_allclose(turn, pose.rotation, atol=1e-6)  # 0.075 rad a step, 800 times
    np.testing.assert_allclose(motion.q[-1, :3], 0.0, atol=1e-7)


# ------------------------------------------------------------------ other engines


START = np.array([0.3, -0.8, 0.9, 0.2, -0.5, 0.1])
SPEED = np.array([0.5, -0.4, 0.6, -0.8, 1.0, 1.5])


def es5_text() -> str:
    source, arguments = str(urdf_path('es5.urdf.xacro')), {'hardware_plugin': 'none'}
    return str(xacro.process_file(source, mappings=arguments).toxml())


def test_free_motion_of_es5_is_that_of_mujoco() -> None:
    mujoco = pytest.importorskip('mujoco')
    text = es5_text()
    model = load_urdf(text, armature={f'joint_{i}': 0.05 for i in range(1, 7)})
    theirs = mujoco.MjModel.from_xml_string(text)
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    theirs.opt.timestep = 1e-3
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    theirs.dof_armature[:] = model.armature
    theirs.dof_damping[:] = 0.0
    theirs.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = START, SPEED
    motion = simulate_motion(model, START, SPEED, np.zeros(6), dt=1e-3, steps=1000)
    worst = 0.0
    for k in range(1, 1001):
        mujoco.mj_step(theirs, data)
        worst = max(worst, float(np.abs(data.qpos - motion.q[k]).max()))
    assert np.abs(motion.q[-1] - START).max() > 0.5  # it has moved
    assert worst < 1e-8  # the same method at the same step: rounding, grown by the motion


def test_free_motion_of_es5_is_that_of_dart_without_its_step() -> None:
    """DART is of first order: its motions at four steps are extrapolated to a step of zero."""
    dart = pytest.importorskip('dartpy')
    text = es5_text()
    model = load_urdf(text)
    ours = simulate_motion(model, START, SPEED, np.zeros(6), dt=2.5e-4, steps=4000).q[-1]
    options = dart.utils.DartLoaderOptions()
    options.mDefaultRootJointType = dart.utils.DartLoaderRootJointType.FIXED
    options.mDefaultInertia = dart.dynamics.Inertia(1e-15, np.zeros(3), 1e-15 * np.eye(3))
    loader = dart.utils.DartLoader()
    loader.setOptions(options)
    skeleton = loader.parseSkeletonString(text, 'file:///es5.urdf')
    for dof in range(6):
        skeleton.getDof(dof).setDampingCoefficient(0.0)
        skeleton.getDof(dof).setCoulombFriction(0.0)
    world = dart.simulation.World()
    world.setGravity(np.array([0.0, 0.0, -9.81]))
    world.addSkeleton(skeleton)
    table = []
    for steps in (1000, 2000, 4000, 8000):
        skeleton.setPositions(START)
        skeleton.setVelocities(SPEED)
        world.setTimeStep(1.0 / steps)
        for _ in range(steps):
            world.step()
        table.append(np.array(skeleton.getPositions()))
    assert np.abs(table[0] - ours).max() > 1e-3  # 1 ms of DART alone is not enough
    for order in (1, 2, 3):
        table = [
            (2**order * fine - coarse) / (2**order - 1) for coarse, fine in zip(table, table[1:])
        ]
    assert np.abs(table[0] - ours).max() < 1e-5


# ------------------------------------------------------------------ efforts and records


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_held_and_asked_efforts_agree(integrator: str) -> None:
    model = MODELS['random_1']
    s = robots.random_state(model, np.random.default_rng(11))
    held, asked = (
        simulate_motion(model, s.q, s.v, tau, dt=1e-3, steps=20, integrator=integrator)
        for tau in (s.tau, lambda t, q, v: s.tau)
    )
    # Two compilations of the same sums; the reference has its error control.
    np.testing.assert_allclose(held.q, asked.q, atol=1e-11)
    np.testing.assert_allclose(held.v, asked.v, atol=1e-11)


@pytest.mark.parametrize('integrator', ['midpoint', 'heun', 'rk4'])
def test_efforts_of_time_and_state_keep_the_order(integrator: str) -> None:
    model = MODELS['branched_floating']
    s = robots.random_state(model, np.random.default_rng(7))
    duration = 0.2

    def tau(t: float, q: Array, v: Array) -> Array:
        return np.asarray(np.sin(9.0 * t) * s.tau - 0.3 * v + 0.2 * q[2])

    true = simulate_motion(model, s.q, s.v, tau, dt=duration, steps=1, integrator='adaptive')
    errors = [
        distance(
            model,
            simulate_motion(
                model, s.q, s.v, tau, dt=duration / steps, steps=steps, integrator=integrator
            ),
            true,
        )
        for steps in (40, 80)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.2)


def test_record_holds_every_nth_step_and_the_end() -> None:
    model = MODELS['two_link']
    s = robots.random_state(model, np.random.default_rng(1))
    every = simulate_motion(model, s.q, s.v, s.tau, dt=0.01, steps=10)
    for integrator in ('rk4', 'adaptive'):
        third = simulate_motion(
            model, s.q, s.v, s.tau, dt=0.01, steps=10, record_every=3, integrator=integrator
        )
        np.testing.assert_array_equal(third.time, [0.0, 0.03, 0.06, 0.09, 0.1])
        np.testing.assert_allclose(third.q, every.q[[0, 3, 6, 9, 10]], atol=1e-6)
    none = simulate_motion(model, s.q, s.v, s.tau, dt=0.01, steps=0)
    assert (none.time.tolist(), none.q.tolist()) == ([0.0], [s.q.tolist()])
    with pytest.raises(ValueError, match='read-only'):
        every.q[0, 0] = 1.0


def test_free_motion_advances_in_place() -> None:
    model = MODELS['gripper_floating']
    s = robots.random_state(model, np.random.default_rng(3))
    motion = simulate_motion(model, s.q, s.v, s.tau, dt=1e-3, steps=50)
    q, v = s.q.copy(), s.v.copy()
    free = FreeMotion(model, 'rk4')
    free.advance(q, v, s.tau, 1e-3, 20)
    free.advance(q, v, s.tau, 1e-3, 30)
    np.testing.assert_array_equal(q, motion.q[-1])
    np.testing.assert_array_equal(v, motion.v[-1])


@pytest.mark.parametrize('name', ['six_axis', 'gripper_floating', 'random_1'])
def test_steps_allocate_nothing(name: str) -> None:
    numba: Any = pytest.importorskip('numba')
    runtime: Any = pytest.importorskip('numba.core.runtime')
    if numba.config.DISABLE_JIT:
        pytest.skip('nothing is compiled')
    model = MODELS[name]
    s = robots.random_state(model, np.random.default_rng(6))
    free = FreeMotion(model, 'rk4')
    counts = []
    runtime._nrt_python.memsys_enable_stats()
    try:
        for steps in (1, 200):
            before = runtime.rtsys.get_allocation_stats().alloc
            free.advance(s.q.copy(), s.v.copy(), s.tau, 1e-4, steps)
            counts.append(runtime.rtsys.get_allocation_stats().alloc - before)
    finally:
        runtime._nrt_python.memsys_disable_stats()
    assert counts[0] == counts[1]


# ------------------------------------------------------------------ refusals


def test_bad_arguments_are_refused() -> None:
    model = MODELS['two_link']
    good: dict[str, Any] = {'q': [0, 0], 'v': [0, 0], 'tau': [0, 0], 'dt': 1e-3, 'steps': 2}
    cases: list[tuple[str, Any, type[Exception], str]] = [
        ('q', [0.0], DimensionError, 'q has shape'),
        ('v', [nan, 0.0], NonFiniteError, 'v holds'),
        ('tau', [0.0] * 3, DimensionError, 'tau has shape'),
        ('tau', 'ab', NotNumericError, 'tau'),
        ('tau', lambda t, q, v: [0.0], DimensionError, 'tau has shape'),
        ('tau', lambda t, q, v: [0.0, inf], NonFiniteError, 'tau holds'),
        ('tau', lambda t, q, v: None, NotNumericError, 'tau'),
        ('dt', 0.0, ConfigurationError, 'dt is 0.0 s'),
        ('dt', nan, ConfigurationError, 'dt is nan'),
        ('steps', -1, ConfigurationError, 'steps is -1, expected a whole number >= 0'),
        ('steps', 1.5, ConfigurationError, 'steps is 1.5'),
        ('record_every', 0, ConfigurationError, 'record_every is 0'),
        ('integrator', 'rk5', ConfigurationError, "integrator 'rk5' is not one of: euler, semi"),
    ]
    for name, value, error, match in cases:
        with pytest.raises(error, match=match):
            simulate_motion(model, **{**good, name: value})
    floating = MODELS['branched_floating']
    with pytest.raises(ConfigurationError, match="length 0 at joint 'root_joint'"):
        simulate_motion(
            floating, np.zeros(floating.nq), *np.zeros((2, floating.nv)), dt=1e-3, steps=1
        )


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_massless_joint_is_named(integrator: str) -> None:
    massless = robots.robot('none', [Link('l')], [robots.joint('j', 'revolute', 'base', 'l')])
    model = build_model(massless)
    for tau in ([0.0], lambda t, q, v: [0.0]):
        with pytest.raises(SingularMassMatrixError, match="'j' moves no inertia"):
            simulate_motion(model, [0.0], [0.0], tau, dt=1e-3, steps=1, integrator=integrator)


@pytest.mark.parametrize('integrator', ORDERS)
def test_motion_that_leaves_the_numbers_is_refused_with_its_time(integrator: str) -> None:
    model = MODELS['two_link']
    fast = np.array([1e100, -1e100])
    for tau in ([0.0, 0.0], lambda t, q, v: [0.0, 0.0]):
        with pytest.raises(NonFiniteError, match=r'the simulated state .* at 0\.\d+ s'):
            simulate_motion(
                model, [0.1, 0.2], fast, tau, dt=0.25, steps=100, integrator=integrator
            )


def test_reference_refuses_a_motion_that_ends_in_finite_time() -> None:
    """A slider that is pushed with the cube of its speed: v = 1 / sqrt(1 - 2 t)."""
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    model = build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )

    def tau(t: float, q: Array, v: Array) -> Array:
        return np.asarray(v**3)

    motion = simulate_motion(model, [0], [1], tau, dt=0.4, steps=1, integrator='adaptive')
    assert motion.v[-1, 0] == pytest.approx(1.0 / np.sqrt(0.2), rel=1e-10)
    with np.errstate(all='ignore'), pytest.raises(NonFiniteError, match=r'0\.5\d* s|tau holds'):
        simulate_motion(model, [0], [1], tau, dt=0.6, steps=1, integrator='adaptive')
    with np.errstate(all='ignore'), pytest.raises(NonFiniteError, match='not finite'):
        simulate_motion(model, [0], [1e200], tau, dt=0.1, steps=1, integrator='adaptive')


def test_state_before_the_bad_step_is_kept() -> None:
    model = MODELS['two_link']
    q, v = np.array([0.1, 0.2]), np.array([1e160, -1e160])
    with pytest.raises(NonFiniteError, match='the simulated state'):
        FreeMotion(model, 'rk4').advance(q, v, np.zeros(2), 1e-3, 5)
    assert (q.tolist(), v.tolist()) == ([0.1, 0.2], [1e160, -1e160])

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

from typing import Any

import numpy as np
import pytest

from contact_scenes import at_height, box_body, floor, free_body, inclined
from robot_dynamics_ros.core.contact.collision_shapes import read_collisions
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    UnknownFrameError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.closed_loop import (
    energies,
    energy_balance,
    no_torque,
    Push,
    run_closed_loop,
    tracking_error,
)
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.half_cosine import half_cosine
from robot_dynamics_ros.resources import urdf_path
import robots

BIPED = urdf_path('five_link_biped_floating.urdf')
LEGS = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
"""The joints of the biped that have a drive."""


def idle(plant: Plant) -> tuple[SimulatedHardware, Any]:
    hardware = SimulatedHardware(plant)
    return hardware, no_torque(len(hardware.joint_names))


@pytest.mark.parametrize(('mode', 'printed'), [('pd', 489.55488), ('pd_feedforward', 2.69752)])
def test_planar_demonstration_comes_out_to_the_printed_digits(mode: str, printed: float) -> None:
    model = load_urdf(urdf_path('planar_2r_point_mass.urdf'))
    start, target = np.array([np.pi / 4, -np.pi / 4]), np.array([3 * np.pi / 4, np.pi / 2])
    law = InverseDynamicsLaw(model, mode, kp=50.0, kd=10.0, gravity_compensated_by_hardware=False)
    profile = half_cosine(1.0, 1.0, 2e-3 * np.arange(1001))  # there and back in 2 s
    q_ref, v_ref, a_ref = (np.outer(x, target - start) for x in profile)
    q_ref += start
    record = run_closed_loop(
        SimulatedHardware(Plant(model, dt_internal=2e-3, q=start)),
        lambda k, q, v: law.command(q, v, (q_ref[k], v_ref[k], a_ref[k])),
        dt=2e-3,
        periods=1000,
    )
    error = tracking_error(record, q_ref)
    # five digits are printed
    assert 1e3 * np.linalg.norm(error.error, axis=1).max() == pytest.approx(printed, abs=6e-6)
    assert error.largest == pytest.approx(np.abs(record.q - q_ref).max(axis=0), rel=1e-15)
    assert (error.rms < error.largest).all()
    assert record.t[-1] == pytest.approx(2.0, rel=1e-15)


def test_balance_of_the_energy_closes() -> None:
    model = build_model(robots.six_axis()).with_armature([0.7, 0.7, 0.7, 0.2, 0.2, 0.2])
    level = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
    friction = DryFriction(model.v_names, level, level, level, np.array(1.3), np.array(0.05))
    push = Push(model.body_names[-1], np.array([20.0, -10.0, 30.0]), 0.1005, 0.2503)
    rests = {}
    for step in (1e-3, 2.5e-4):
        plant = Plant(model, friction, dt_internal=step, q=np.full(6, 0.3), v=np.full(6, 0.5))
        record = run_closed_loop(
            SimulatedHardware(plant),
            lambda k, q, v: np.array([10.0, 60.0, 20.0, 1.0, 1.0, 0.5]) - 5.0 * q,
            dt=2e-3,
            periods=200,
            pushes=[push],
        )
        balance = energy_balance(record)
        assert balance.friction < -1.0
        assert balance.actuators > 1.0
        assert abs(balance.pushes) > 0.1
        rests[step] = abs(balance.rest)
    assert rests[1e-3] < 1e-4 * abs(balance.actuators)  # second order, as the friction
    assert rests[2.5e-4] < 0.3 * rests[1e-3]
    energy = np.add(*energies(record))
    assert energy[-1] - energy[0] == pytest.approx(balance.end - balance.start)


def test_biped_comes_to_rest_on_forces_that_carry_its_weight() -> None:
    model = load_urdf(BIPED)
    q = np.array([0.0, 0.81, 0.0, 0.2, 0.0, -0.2, 0.0])
    plant = Plant(model, world=floor(friction=0.9), collisions=read_collisions(BIPED), q=q)
    record = run_closed_loop(
        SimulatedHardware(plant),
        lambda k, at, v: LEGS * (2000.0 * (q - at) - 30.0 * v),
        dt=1e-3,
        periods=800,
    )
    assert list(record.pairs) == [('left_shank', 'floor'), ('right_shank', 'floor')]
    left, right = record.pairs.values()
    weight = 9.81 * model.total_mass
    # It stands still up to what the springs of the legs still swing.
    assert left.normal_force[-1] + right.normal_force[-1] == pytest.approx(weight, rel=1e-5)
    assert left.normal_force[-1] == pytest.approx(right.normal_force[-1], rel=1e-5)  # is symmetric
    assert left.force[-1, 0] == pytest.approx(-right.force[-1, 0], rel=1e-4)
    assert left.touches == right.touches == 1
    assert left.penetration.max() < 1e-6  # rigid
    np.testing.assert_allclose(left.point[-1, 2], 0.0, atol=1e-9)
    # Free fall over the gap below the foot's sphere.
    gap = 0.81 - 0.785 * np.cos(0.2) - 0.015
    first = record.t[np.argmax(left.count > 0.0)]
    assert first == pytest.approx(np.sqrt(2.0 * gap / 9.81), abs=1e-3)  # on the grid of samples
    # A shank leans by 0.2: its wrench, turned back, is the force in the world.
    wrench = record.wrenches['left_shank'][-1]
    lean = record.q[-1, 2] + record.q[-1, 3] + record.q[-1, 4]
    up = -np.sin(lean) * wrench[0] + np.cos(lean) * wrench[2]
    assert up == pytest.approx(left.normal_force[-1], rel=1e-12)
    balance = energy_balance(record)
    assert balance.contacts < -5.0
    assert abs(balance.rest) < 1e-5 * abs(balance.contacts)


def test_sliding_box_loses_what_friction_takes() -> None:
    model, shapes = box_body(2.0, gravity=inclined(0.5))
    plant = Plant(model, world=floor(friction=0.3), collisions=shapes, q=at_height(model, 0.1))
    record = run_closed_loop(*idle(plant), dt=1e-3, periods=500)
    pair = record.pairs['base', 'floor']
    weight = 2.0 * 9.81
    assert (pair.count[1:] == 4).all()
    np.testing.assert_allclose(pair.normal_force[1:], weight * np.cos(0.5), rtol=1e-6)
    np.testing.assert_allclose(pair.force[1:, 0], -0.3 * weight * np.cos(0.5), rtol=1e-6)
    way = record.q[-1, 0] - record.q[0, 0]
    assert way == pytest.approx(0.5 * 9.81 * (np.sin(0.5) - 0.3 * np.cos(0.5)) * 0.25, rel=5e-3)
    balance = energy_balance(record)
    assert balance.contacts == pytest.approx(-0.3 * weight * np.cos(0.5) * way, rel=5e-3)
    # The point of attack moves on with the box.
    assert pair.point[-1, 0] - pair.point[1, 0] == pytest.approx(way, abs=1e-2)


def test_push_gives_its_impulse_in_the_world() -> None:
    model = free_body(2.0, gravity=(0.0, 0.0, 0.0))
    q = at_height(model, 0.0)
    q[3:6], q[6] = np.sin(0.4) * np.array([0.6, 0.0, 0.8]), np.cos(0.4)  # turned somehow
    push = Push('base', np.array([3.0, -1.0, 0.5]), 0.0123, 0.0371)  # not at ends of periods
    record = run_closed_loop(*idle(Plant(model, q=q)), dt=0.01, periods=10, pushes=[push])
    impulse = push.force * (push.end - push.start)
    moved = record.q[-1, :3] - record.q[-2, :3]
    np.testing.assert_allclose(moved / 0.01, impulse / 2.0, rtol=1e-9)
    assert not record.v[1].any()
    balance = energy_balance(record)
    assert balance.pushes == pytest.approx(impulse @ impulse / 4.0, rel=1e-9)
    assert abs(balance.rest) < 1e-12


def test_law_keeps_the_last_message_that_arrived() -> None:
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    seen: list[Any] = []

    def law(k: int, q: Any, v: Any) -> Any:
        seen.append((k, q.tolist()))
        return np.zeros(2)

    nothing = np.zeros(2)
    settings = SensorSettings(model.joint_names, nothing, nothing, nothing, loss_probability=0.5)
    sensors = JointSensors(settings, np.random.default_rng(3))
    hardware = SimulatedHardware(Plant(model, q=[0.4, 0.2]), sensors=sensors)
    record = run_closed_loop(hardware, law, dt=0.01, periods=40)
    received = record.received
    assert 0.2 < received.mean() < 0.8
    known = 0
    for k, q in seen:
        known = k if received[k] else known
        assert q == record.q[known].tolist()
    assert not record.measured_q[~received].any()
    np.testing.assert_array_equal(record.measured_q[received], record.q[received])


def test_continuous_joints_err_the_short_way_round() -> None:
    model = load_urdf(BIPED)
    plant = Plant(model, q=[0.0, 2.0, 0.0, 2.0 * np.pi + 0.1, 0.0, 0.0, 0.0])
    record = run_closed_loop(*idle(plant), dt=1e-4, periods=1)
    error = tracking_error(record, np.zeros((2, 7)))
    assert error.error[0, 3] == pytest.approx(0.1)
    assert error.largest[1] == pytest.approx(2.0)
    with pytest.raises(DimensionError, match='q_ref has'):
        tracking_error(record, np.zeros((3, 7)))


def test_progress_is_told_and_start_is_kept() -> None:
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    done: list[int] = []
    record = run_closed_loop(
        *idle(Plant(model, q=[0.1, 0.2])), dt=0.01, periods=3, advance=lambda: done.append(1)
    )
    assert len(done) == 3
    assert record.q[0].tolist() == [0.1, 0.2]
    np.testing.assert_array_equal(record.t, [0.0, 0.01, 0.02, 0.03])


def test_what_cannot_be_run_is_refused() -> None:
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    hardware, law = idle(Plant(model))
    with pytest.raises(ConfigurationError, match='1000001 samples takes more than 10 MB'):
        run_closed_loop(hardware, law, dt=1e-3, periods=1_000_000, memory=1e7)
    with pytest.raises(ConfigurationError, match='0 periods of 0.1 s'):
        run_closed_loop(hardware, law, dt=0.1, periods=0)
    with pytest.raises(ConfigurationError, match='periods of nan s'):
        run_closed_loop(hardware, law, dt=np.nan, periods=1)
    for push, error, match in (
        (Push('hand', np.ones(3), 0.0, 1.0), UnknownFrameError, "'hand'"),
        (Push('base_link', np.ones(3), 0.0, 1.0), ConfigurationError, 'does not move'),
        (Push(model.body_names[0], np.ones(3), 1.0, 0.5), ConfigurationError, '0 <= start < end'),
        (Push(model.body_names[0], np.full(3, np.nan), 0.0, 1.0), NonFiniteError, 'push'),
    ):
        with pytest.raises(error, match=match):
            run_closed_loop(hardware, law, dt=0.1, periods=1, pushes=[push])
    with pytest.raises(NonFiniteError, match='tau'):
        run_closed_loop(hardware, lambda k, q, v: np.full(2, np.nan), dt=0.1, periods=1)


def test_memory_counts_the_contacts_as_well() -> None:
    model, shapes = box_body()
    plant = Plant(model, world=floor(), collisions=shapes, q=at_height(model, 0.1))
    hardware, law = idle(plant)
    columns = 1 + model.nq + 5 * model.nv + 5 + 4
    with pytest.raises(ConfigurationError, match='11 samples takes more than'):
        run_closed_loop(hardware, law, dt=1e-3, periods=10, memory=8.0 * 11 * (columns + 8))
    assert run_closed_loop(
        hardware, law, dt=1e-3, periods=10, memory=8.0 * 11 * (columns + 15)
    ).pairs

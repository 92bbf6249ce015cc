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

"""What the scenarios of the ES5 ask of its drives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

from robot_dynamics_ros.core.drive.demand import drive_demand
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.drive.motor_currents import MotorCurrents
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.core.trajectory.sizing import sizing_metrics
from robot_dynamics_ros.resources import config_path, urdf_path

JOINTS = tuple(f'joint_{i}' for i in range(1, 7))


@pytest.fixture(scope='module')
def drives() -> Drives:
    return read_drive_file(config_path('es5_drives.yaml'), JOINTS)


def torques(drives: Drives, name: str, *factors: float) -> tuple[Any, Any, Any]:
    """Return times, velocities and torques of the drives, rotors and friction included."""
    motion = scenario(name, *factors)
    t = np.linspace(0.0, motion.duration, 2001)
    q, v, a = motion.sample_many(t)
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature(drives.reflected_inertia)
    law = DryFriction.from_file(config_path('es5_friction.yaml'), JOINTS)
    return t, v, rnea_batch(model, q, v, a) + law.torque(v)


@pytest.mark.parametrize('name', ['shoulder_up', 'pick_place', 'all_axes'])
def test_ordinary_scenarios_are_within_the_drives(drives: Drives, name: str) -> None:
    t, v, tau = torques(drives, name)
    demand = drive_demand(drives, t, v, tau)
    assert demand.overloaded == ()
    metrics = sizing_metrics(t, v, tau)
    np.testing.assert_allclose(
        demand.peak_current, metrics.peak_torque / drives.torque_per_ampere, rtol=1e-12
    )
    np.testing.assert_allclose(
        demand.rms_current, metrics.rms_torque / drives.torque_per_ampere, rtol=1e-12
    )
    # u i = R i^2 + L i di/dt + r k_e v i: heat, what the coil holds, and the back-EMF's power.
    mechanical = trapezoid(demand.current * v, t, axis=0) * drives.volts_per_velocity
    coil = 0.5 * drives.inductance * (demand.current[-1] ** 2 - demand.current[0] ** 2)
    # Where friction jumps with the direction the sampled rate of the current is large.
    np.testing.assert_allclose(
        demand.energy, demand.copper_loss + mechanical + coil, atol=0.02, rtol=1e-3
    )


def test_aggressive_is_beyond_the_drives_and_names_them(drives: Drives) -> None:
    demand = drive_demand(drives, *torques(drives, 'aggressive'))
    assert {'joint_1', 'joint_2'} <= set(demand.overloaded)
    assert demand.critical_joint == 'joint_1'
    slow = drive_demand(drives, *torques(drives, 'aggressive', 0.9, 4.0))
    assert slow.overloaded == ()


def test_drives_give_the_torques_of_a_scenario_in_time(drives: Drives) -> None:
    # Current loops at 1 kHz follow what the motion needs, but for the rise over the last step.
    t, v, tau = torques(drives, 'all_axes')
    motors = MotorCurrents(drives)
    given = np.array([motors.step(row, speed, 1e-3) for row, speed in zip(tau, v)])
    np.testing.assert_allclose(drives.torque(motors.current, v[-1]), tau[-1], rtol=1e-9)
    moving = np.abs(v).min(axis=1) > 0.05  # away from where friction jumps
    moving[:10] = False
    assert np.abs(given - tau)[moving].max() < 1.0
    assert (np.abs(motors.voltage) <= drives.voltage_limit).all()

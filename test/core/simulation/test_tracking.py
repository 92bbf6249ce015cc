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

"""The ES5 arm follows its scenarios in closed loop: law, plant and model of the same robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.core.trajectory.sizing import sizing_metrics
from robot_dynamics_ros.resources import urdf_path

VISCOUS = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
COULOMB = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
ARMATURE = [0.7141, 1.0249, 0.7141, 0.2040, 0.2040, 0.2040]  # ratio^2 times rotor inertia
KP = np.array([400.0, 400.0, 300.0, 50.0, 50.0, 30.0])
KD = KP / 10.0


@pytest.fixture(scope='module')
def es5() -> Any:
    return load_urdf(urdf_path('es5.urdf.xacro'))


def largest_error(
    model: Any,
    mode: str,
    motion: Any,
    plant_friction: DryFriction | None = None,
    law_friction: FrictionModel | None = None,
) -> float:
    """Return the largest position error of any joint [rad] at 1 kHz."""
    kp, kd = (KP, KD) if mode != 'computed_torque' else (100.0, 20.0)
    law = InverseDynamicsLaw(
        model, mode, kp=kp, kd=kd, gravity_compensated_by_hardware=False, friction=law_friction
    )
    plant = Plant(model, plant_friction, q=motion.sample(0.0)[0])
    state, worst = plant.state, 0.0
    for k in range(round(motion.duration / 1e-3)):
        reference = motion.sample(1e-3 * k)
        worst = max(worst, float(np.abs(reference[0] - state.q).max()))
        state = plant.step(law.command(state.q, state.v, reference), 1e-3)
    return worst


@pytest.mark.parametrize(
    ('name', 'amplitude', 'time_scale'), [('pick_place', 1.0, 1.0), ('aggressive', 0.9, 4.0)]
)
def test_model_torque_cuts_the_error_of_pd_alone(
    es5: Any, name: str, amplitude: float, time_scale: float
) -> None:
    model = es5.with_armature(ARMATURE)
    motion = scenario(name, amplitude, time_scale)
    pd = largest_error(model, 'pd', motion)
    for mode in ('pd_feedforward', 'computed_torque'):
        # What is left comes from holding the torque for 1 ms.
        assert largest_error(model, mode, motion) < pd / 500.0
    assert largest_error(model, 'pd_gravity', motion) < pd / 3.0


def test_friction_that_the_law_knows_costs_little(es5: Any) -> None:
    model = es5.with_armature(ARMATURE)
    motion = scenario('pick_place')
    dry = DryFriction(model.v_names, VISCOUS, COULOMB, COULOMB, np.array(1.3), np.array(0.05))
    told = FrictionModel(model.v_names, VISCOUS, COULOMB, COULOMB, np.array(0.02))
    unknown = largest_error(model, 'pd_feedforward', motion, dry)
    known = largest_error(model, 'pd_feedforward', motion, dry, told)
    assert unknown < largest_error(model, 'pd', motion, dry) / 3.0
    assert known < unknown / 5.0


def test_aggressive_sizes_the_drives_as_in_the_source(es5: Any) -> None:
    motion = scenario('aggressive')
    t = np.linspace(0.0, motion.duration, 4001)
    q, v, a = motion.sample_many(t)
    metrics = sizing_metrics(t, v, rnea_batch(es5, q, v, a))
    # The source says: about 297 and 254 N m.
    np.testing.assert_allclose(metrics.peak_torque[:2], [297.0, 254.0], atol=0.5)
    slow = scenario('aggressive', 0.9, 4.0)
    t = np.linspace(0.0, slow.duration, 4001)
    q, v, a = slow.sample_many(t)
    metrics = sizing_metrics(t, v, rnea_batch(es5.with_armature(ARMATURE), q, v, a))
    assert metrics.peak_torque.max() == pytest.approx(77.0, abs=0.5)
    assert metrics.peak_velocity.max() == pytest.approx(2.8, abs=0.05)

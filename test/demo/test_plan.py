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

import numpy as np
import pytest

from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.scenarios import Scenario
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory
from robot_dynamics_ros.demo.plan import (
    AGGRESSIVE,
    inertia_of_joints,
    LAWS,
    PICK_PLACE,
    plan_runs,
    real_time_pace,
    reference_times,
)
from robot_dynamics_ros.resources import urdf_path


def test_plan_holds_every_law_for_every_motion() -> None:
    rubbing = [(run.motion, run.mode) for run in plan_runs(quick=False) if run.has_friction]
    assert rubbing == [(motion, mode) for motion in (PICK_PLACE, AGGRESSIVE) for mode in LAWS]
    assert [run.mode for run in plan_runs(quick=True) if not run.has_friction] == [
        'pd',
        'pd_feedforward',
    ]


@pytest.mark.parametrize(
    ('exchange_rate', 'rate', 'is_lockstep'),
    [(2500.0, 1000.0, False), (500.0, 500.0, False), (200.0, 1000.0, True)],
)
def test_pace_is_what_the_machine_keeps_up_with(
    exchange_rate: float, rate: float, is_lockstep: bool
) -> None:
    pace = real_time_pace(exchange_rate)
    assert (pace.rate, pace.is_lockstep) == (rate, is_lockstep)


@pytest.mark.parametrize('motion', [PICK_PLACE, AGGRESSIVE])
def test_spline_through_the_reference_is_the_motion(motion: Scenario) -> None:
    times = reference_times(motion)
    names = [f'joint_{i}' for i in range(1, 7)]
    spline = JointTrajectory.from_points(
        names, times, *(list(part) for part in motion.sample_many(times))
    )
    fine = np.arange(0.0, motion.duration, 1e-3)
    q = np.array([spline.sample(t)[0] for t in fine])
    # 0.1 % of the smallest error that is measured; half cosines are smooth over 10 ms.
    assert np.abs(q - motion.sample_many(fine)[0]).max() < 2e-7


def test_inertia_of_joints_includes_the_rotors() -> None:
    armature = {f'joint_{i}': 1.0 for i in range(1, 7)}
    bare = load_urdf(urdf_path('es5.urdf.xacro'))
    geared = load_urdf(urdf_path('es5.urdf.xacro'), armature=armature)
    assert inertia_of_joints(geared) == pytest.approx(inertia_of_joints(bare) + 1.0)

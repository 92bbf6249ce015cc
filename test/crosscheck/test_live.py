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

"""The comparison with Pinocchio in single states."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.crosscheck.live import LiveCrosscheck
from robot_dynamics_ros.resources import urdf_path

pytest.importorskip('pinocchio')


def test_states_at_rest_in_motion_and_at_zero_agree() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'), payload=Payload(2.0, 'tool0'))
    live = LiveCrosscheck(model)
    rng = np.random.default_rng(0)
    zero = np.zeros(6)
    for q, v, tau in ((zero, zero, zero), *rng.normal(size=(20, 3, 6)), (1e-7 * zero, zero, zero)):
        report = live.step(q, v, tau)
        assert report.ok, report.summary
        assert {row.quantity.split(' ')[0] for row in report.rows} >= {'rnea', 'crba', 'aba'}
    assert live.states == 22


def test_another_robot_on_one_side_is_found_in_the_first_state() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    live = LiveCrosscheck(model)
    # Ours is given a payload that Pinocchio's side does not have.
    live._twin.robot = model.with_payload(Payload(0.01, 'tool0'))
    report = live.step(np.full(6, 0.3), np.zeros(6), np.zeros(6))
    assert not report.ok
    assert report.first_mismatch is not None


def test_states_that_do_not_suit_the_robot_are_refused() -> None:
    live = LiveCrosscheck(load_urdf(urdf_path('es5.urdf.xacro')))
    with pytest.raises(DimensionError, match='q has'):
        live.step(np.zeros(5), np.zeros(6), np.zeros(6))
    with pytest.raises(NonFiniteError, match='tau'):
        live.step(np.zeros(6), np.zeros(6), np.full(6, np.nan))

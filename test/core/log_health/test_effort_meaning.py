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

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.log_health.effort_meaning import EffortMeaning

JOINTS = ('shoulder', 'elbow', 'wrist')
EFFORT = np.array([[1.0, 2.0, np.nan], [-1.0, 0.5, 3.0]])


def test_torques_stay_as_they_are() -> None:
    meaning = EffortMeaning.stated(JOINTS)
    assert np.array_equal(meaning.torque(EFFORT), EFFORT, equal_nan=True)
    assert meaning.sentence == 'efforts are taken as torques'


def test_signs_and_gains_are_those_of_their_joints() -> None:
    meaning = EffortMeaning.stated(JOINTS, signs={'wrist': -1}, gains={'elbow': 2.0})
    expected = EFFORT * [1.0, 2.0, -1.0]
    assert np.array_equal(meaning.torque(EFFORT), expected, equal_nan=True)
    assert 'elbow 2, wrist -1' in meaning.sentence


def test_current_becomes_torque_by_constant_and_ratio_or_by_a_gain() -> None:
    meaning = EffortMeaning.stated(
        JOINTS,
        'current',
        torque_constants={'*': 0.1, 'elbow': 0.2},
        gear_ratios={'shoulder': 100.0, 'elbow': -50.0},
    )
    # wrist: no gear. The elbow's own constant wins over that of all.
    assert np.allclose(meaning.factor, [10.0, -10.0, 0.1], rtol=1e-15)
    mixed = EffortMeaning.stated(
        JOINTS, 'current', torque_constants={'wrist': 0.3}, gains={'shoulder': 9.0, 'elbow': 8.0}
    )
    assert np.allclose(mixed.factor, [9.0, 8.0, 0.3], rtol=1e-15)
    gains = EffortMeaning.stated(JOINTS, 'current', gains={'*': 7.0}, signs={'*': -1})
    assert np.array_equal(gains.factor, [-7.0] * 3)
    assert gains.sentence.startswith('efforts are taken as currents')


@pytest.mark.parametrize(
    ('options', 'reason'),
    [
        (
            {'semantics': 'gravity_compensated'},
            'cannot be used: record .* use_currents_as_efforts',
        ),
        ({'semantics': 'voltage'}, "'voltage' is not one of: torque, current"),
        (
            {'semantics': 'current'},
            'needs a torque constant, or a gain, of shoulder, elbow, wrist',
        ),
        ({'semantics': 'current', 'gains': {'elbow': 1.0}}, 'or a gain, of shoulder, wrist'),
        ({'torque_constants': {'*': 0.1}}, 'torque_constants are given, but .* is torque'),
        ({'signs': {'wrist': 2}}, "sign of joint 'wrist' must be 1 or -1"),
        ({'signs': {'hand': -1}}, "effort sign: 'hand' fits no joint; there are: shoulder"),
        ({'gains': {'elbow': 0.0}}, "effort gain of joint 'elbow' is 0"),
        ({'gains': {'elbow': np.nan}}, "effort gain of joint 'elbow' is nan"),
        (
            {'semantics': 'current', 'gains': {'*': 1.0}, 'gear_ratios': {'elbow': 3.0}},
            "joint 'elbow' has an effort gain and a torque constant or gear ratio",
        ),
        (
            {'semantics': 'current', 'torque_constants': {'*': -0.1}},
            'torque_constants must be > 0',
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    options: dict[str, object], reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason) as caught:
        EffortMeaning.stated(JOINTS, **options)  # type: ignore[arg-type]
    assert '\n' not in str(caught.value)

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

import pytest

from robot_dynamics_ros.bags.joint_map import resolve_joint_map, suggest_joint_map
from robot_dynamics_ros.core.exceptions import ConfigurationError


def test_whole_names_win_over_prefixes_and_long_prefixes_over_short_ones() -> None:
    joint_map = resolve_joint_map(
        ['left_:=l_', 'left_arm_:=la_', 'left_arm_wrist:=hand'],
        ['left_arm_wrist', 'left_arm_elbow', 'left_leg', 'head'],
    )
    assert joint_map == {
        'left_arm_wrist': 'hand',
        'left_arm_elbow': 'la_elbow',
        'left_leg': 'l_leg',
    }


def test_empty_prefix_adds_one_to_all() -> None:
    assert resolve_joint_map([':=arm_'], ['a', 'b']) == {'a': 'arm_a', 'b': 'arm_b'}


@pytest.mark.parametrize(
    ('rules', 'reason'),
    [
        (['a=b'], 'not of the form'),
        (['a:='], 'not of the form'),
        (['q:=b'], 'fits no joint of the log; it has: a, b'),
        (['a:=c', 'b:=c'], 'two joints the name c'),
        (['a:=b'], 'two joints the name b'),
    ],
)
def test_wrong_rules_are_refused(rules: list[str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        resolve_joint_map(rules, ['a', 'b'])


def test_empty_target_takes_a_prefix_away() -> None:
    assert resolve_joint_map(['arm_:='], ['arm_a', 'b']) == {'arm_a': 'a'}


def test_suggestion_is_the_one_rule_that_fits_most() -> None:
    log = [f'fer_joint{k}' for k in range(1, 8)]
    model = [f'panda_joint{k}' for k in range(1, 8)]
    rule = suggest_joint_map(log, [*model, 'panda_finger_joint1'])
    assert rule is not None
    assert list(resolve_joint_map([rule], log).values()) == model
    assert suggest_joint_map(['joint1', 'joint2'], ['arm_joint1', 'arm_joint2']) == ':=arm_'
    assert suggest_joint_map(['a', 'b'], ['x', 'y']) is None

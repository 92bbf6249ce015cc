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

import argparse
from pathlib import Path

import numpy as np
import pytest

from bags.making import make_bag, swing
from robot_dynamics_ros.core.exceptions import BagError, ConfigurationError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.tools.log_arguments import add_log_arguments, open_logs
from robots import two_link


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return build_model(two_link())


def parsed(*arguments: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_log_arguments(parser)
    return parser.parse_args([str(argument) for argument in arguments])


def rules(arm: RobotModel, *names: str) -> list[str]:
    return [f'{name}:={joint}' for name, joint in zip(names, arm.joint_names)]


def test_several_logs_come_in_the_order_of_the_model(tmp_path: Path, arm: RobotModel) -> None:
    first = make_bag(tmp_path / 'first', swing(100, ('y', 'x')))
    second = make_bag(tmp_path / 'second', swing(60, ('x', 'other', 'y')))
    seen: list[int] = []
    args = parsed(first, second, '--joint-map', *rules(arm, 'x', 'y'), '--effort-sign', '*=-1')
    logs = open_logs(args, arm, advance=seen.append)
    assert logs.matched.model.joint_names == arm.joint_names
    assert [source.joint_names for source in logs.sources] == [arm.joint_names] * 2
    one, two = (source.read(advance=seen.append) for source in logs.sources)
    assert sum(seen) == 160
    t = 0.01 * np.arange(100)
    assert np.allclose(one.position, np.column_stack([np.sin(2 * t), np.sin(t)]), atol=1e-15)
    assert two.position.shape == (60, 2)
    assert one.effort is not None
    torque = -np.column_stack([4.0 * np.sin(2 * t) + 0.5, np.sin(t) + 0.5])
    assert np.allclose(one.effort, torque, atol=1e-15)
    blocks = list(logs.sources[1].blocks(25, overlap=5))
    assert [len(block.stamps) for block in blocks] == [25, 30, 15]


def test_joints_that_are_not_in_a_log_are_held_or_refused(tmp_path: Path, arm: RobotModel) -> None:
    bag = make_bag(tmp_path / 'bag', swing(50, ('x', 'z')))
    args = parsed(bag, '--map', *rules(arm, 'x')[:1])
    with pytest.raises(ConfigurationError, match=f'the log has no joint {arm.joint_names[1]}'):
        open_logs(args, arm)
    logs = open_logs(args, arm, [f'{arm.joint_names[1]}:=0.3'])
    assert logs.matched.model.joint_names == arm.joint_names[:1]
    assert logs.sources[0].read().position.shape == (50, 1)


def test_log_that_lacks_a_joint_of_the_first_is_named(tmp_path: Path, arm: RobotModel) -> None:
    first = make_bag(tmp_path / 'first', swing(50, ('x', 'y')))
    second = make_bag(tmp_path / 'second', swing(50, ('x', 'z')))
    with pytest.raises(BagError, match=f'second: /joint_states has no joint {arm.joint_names[1]}'):
        open_logs(parsed(first, second, '--map', *rules(arm, 'x', 'y')), arm)


def test_gravity_compensated_efforts_are_refused_before_anything_is_read(
    tmp_path: Path, arm: RobotModel
) -> None:
    args = parsed(tmp_path / 'nothing', '--effort', 'gravity_compensated')
    with pytest.raises(ConfigurationError, match='cannot be used'):
        open_logs(args, arm)

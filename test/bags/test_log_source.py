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

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bags.making import make_bag, swing
from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.joint_blocks import JointLogStream, read_joint_log
from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.drive.coupled_gears import CoupledGears
from robot_dynamics_ros.core.exceptions import BagError
from robot_dynamics_ros.core.log_health.effort_meaning import EffortMeaning


def stream_of(bag: Path, gears: CoupledGears | None = None) -> JointLogStream:
    return JointLogStream(BagSamples(bag), gears=gears)


def test_source_gives_the_joints_of_a_model_and_torques(tmp_path: Path) -> None:
    bag = make_bag(tmp_path / 'bag', swing(300, ('a', 'b', 'c')))
    whole = read_joint_log(bag)
    names = ('arm_c', 'a')
    meaning = EffortMeaning.stated(names, 'current', gains={'arm_c': -3.0, 'a': 2.0})
    source = LogSource(stream_of(bag), names, {'c': 'arm_c'}, meaning, since=0.5, until=2.0)
    log = source.read()
    rows = (whole.stamps >= 0.5) & (whole.stamps <= 2.0)
    assert log.joint_names == names
    # Times count from the beginning of the log, so that windows of one log fit together.
    assert np.array_equal(log.stamps, whole.stamps[rows])
    assert log.start == whole.start
    assert np.array_equal(log.position, whole.position[rows][:, [2, 0]])
    assert log.effort is not None and whole.effort is not None
    assert np.array_equal(log.effort, whole.effort[rows][:, [2, 0]] * [-3.0, 2.0])
    assert log.counts['outside the time window'] == 300 - np.count_nonzero(rows)
    blocks = list(source.blocks(40, overlap=10))
    joined = np.concatenate([blocks[0].stamps, *(block.stamps[10:] for block in blocks[1:])])
    assert np.array_equal(joined, log.stamps)
    assert blocks[-1].counts == log.counts and blocks[-1].notes == log.notes


def test_missing_positions_are_left_out_and_unknown_fields_are_none(tmp_path: Path) -> None:
    states = [replace(state, velocity=(), effort=(np.nan, 1.0)) for state in swing(50)]
    states[4] = replace(states[4], position=(np.nan, 0.5))
    source = LogSource(stream_of(make_bag(tmp_path / 'bag', states)), ('a',))
    log = source.read()
    assert len(log.stamps) == 49 and log.counts['not finite'] == 1
    assert log.velocity is None and log.effort is None
    assert source.name.endswith('bag: /joint_states')


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    bag = make_bag(tmp_path / 'bag', swing(50))
    with pytest.raises(BagError, match='has no joint elbow; it has: a, arm_b'):
        LogSource(stream_of(bag), ('a', 'elbow'), {'b': 'arm_b'}).read()
    with pytest.raises(BagError, match='0 samples with a position of a from 7 s to 9 s'):
        LogSource(stream_of(bag), ('a',), since=7.0, until=9.0).read()


def test_gears_bring_motors_to_joints(tmp_path: Path) -> None:
    bag = make_bag(tmp_path / 'bag', swing(60, ('m1', 'm2', 'fan')))
    whole = read_joint_log(bag)
    ratios = np.array([[10.0, 0.0], [4.0, 20.0]])
    gears = CoupledGears(('m1', 'm2'), ('j1', 'j2'), ratios, np.array([0.0, 1.0]), np.ones(2))
    stream = stream_of(bag, gears)
    assert stream.joint_names == ('j1', 'j2')
    log = LogSource(stream, ('j2', 'j1')).read()
    motors = whole.position[:, :2]
    expected = np.column_stack(
        [(motors[:, 1] - 4.0 * motors[:, 0] / 10.0) / 20.0 + 1.0, motors[:, 0] / 10.0]
    )
    assert np.allclose(log.position, expected, rtol=0.0, atol=1e-15)
    assert log.effort is not None and whole.effort is not None
    tau = whole.effort[:, :2]
    torques = np.column_stack([20.0 * tau[:, 1], 10.0 * tau[:, 0] + 4.0 * tau[:, 1]])
    assert np.allclose(log.effort, torques, rtol=1e-14)
    other = CoupledGears(('m1', 'm9'), ('j1', 'j2'), ratios, np.zeros(2), np.ones(2))
    with pytest.raises(BagError, match='has no motor m9; it has: m1, m2, fan'):
        stream_of(bag, other)

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

from pathlib import Path

import numpy as np
import pytest

from bags.making import make_bag, swing
from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.joint_blocks import JointLogStream
from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.joint_record import JointRecord
from robot_dynamics_ros.tools import log_reader
from robot_dynamics_ros.tools.identify_data import OpenPart
from robot_dynamics_ros.tools.log_reader import OpenLog


def source_of(path: Path, count: int = 1000) -> LogSource:
    stream = JointLogStream(BagSamples(make_bag(path / 'bag', swing(count))))
    return LogSource(stream, ('b', 'a'))


@pytest.mark.parametrize('kept', [10_000_000, 30_000, 1])
def test_blocks_are_the_log_however_much_is_remembered(
    tmp_path: Path, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reader, 'BLOCK', 70)
    monkeypatch.setattr(log_reader, 'KEPT', kept)
    source = source_of(tmp_path)
    whole = source.read()
    assert whole.effort is not None
    log = OpenLog('log', source, shows_progress=False)
    assert np.array_equal(log.stamps, whole.stamps)
    assert log.velocity_known.all() and log.effort_known.all()
    for _ in range(2):
        joined = JointRecord.joined(list(log.blocks()))
        assert np.array_equal(joined.position, whole.position)
        assert np.array_equal(joined.effort, whole.effort)
    part = OpenPart(log, slice(65, 500))
    joined = JointRecord.joined(list(part.blocks()))
    assert np.array_equal(joined.stamps, whole.stamps[65:500])
    assert np.array_equal(joined.stamps, part.stamps)
    # Stretches are bounded, lie in the part, and reach over it.
    excerpts = log.excerpts(2.0, 8.0)
    times = np.concatenate([excerpt.stamps for excerpt in excerpts])
    assert times[0] >= 2.0 and times[-1] < 8.0
    if kept > 1:
        assert times[0] < 4.0 and times[-1] > 6.0
    samples = sum(len(excerpt.stamps) for excerpt in log.excerpts(0.0, np.inf))
    assert samples == 1000 if kept > 1e6 else samples * 56 <= max(kept, 3 * 70 * 56)


def test_part_that_nothing_is_remembered_of_shows_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reader, 'BLOCK', 50)
    monkeypatch.setattr(log_reader, 'KEPT', 1)
    log = OpenLog('log', source_of(tmp_path), shows_progress=False)
    (first,) = OpenPart(log, slice(60, 90)).excerpts()
    assert np.array_equal(first.stamps, log.stamps[60:90])


def test_log_without_efforts_of_a_joint_is_refused(tmp_path: Path) -> None:
    states = swing(100)
    for state in states:
        state.effort = [np.nan, 1.0]
    stream = JointLogStream(BagSamples(make_bag(tmp_path / 'bag', states)))
    with pytest.raises(ConfigurationError, match='has no effort of a$'):
        OpenLog('log', LogSource(stream, ('b', 'a')), shows_progress=False)
    for state in states:
        state.effort = ()
    stream = JointLogStream(BagSamples(make_bag(tmp_path / 'silent', states)))
    with pytest.raises(ConfigurationError, match='needs measured efforts'):
        OpenLog('log', LogSource(stream, ('b', 'a')), shows_progress=False)

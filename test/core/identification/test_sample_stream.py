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

"""Samples of a log that is read in blocks are those of the whole log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import tracemalloc

import numpy as np
import pytest

from identification_scenes import multisine
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification import record_windows
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    identify,
)
from robot_dynamics_ros.core.identification.joint_record import (
    JointRecord,
    prepared_record,
    unwrapped_blocks,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.sample_stream import (
    LogFilter,
    record_cutoffs,
    SampleStream,
    StampedSamples,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import body, joint, robot, Y, Z

RATE = 200.0
CUTOFFS = CutoffChoice(5.0, 20.0, None, 'given')


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    links = [body(name, 2.0, (0.1, 0.0, 0.2), (0.03, 0.02, 0.01)) for name in ('near', 'far')]
    joints = [
        joint('turn', 'continuous', 'base', 'near', axis=Z),
        joint('swing', 'revolute', 'near', 'far', axis=Y),
    ]
    return build_model(robot('arm', links, joints))


def log_of(seconds: float, kind: str = 'plain') -> JointRecord:
    """Return a log that turns on and on, with jitter and what `kind` says."""
    rng = np.random.default_rng(0)
    steps = (1.0 + 0.2 * rng.uniform(-1.0, 1.0, round(seconds * RATE))) / RATE
    if kind == 'gaps':
        steps[rng.choice(len(steps), 8, replace=False)] = 2.0
    stamps = np.cumsum(steps)
    q, v, a = multisine(2, stamps, 3, 0.8, 1.0)
    q[:, 0] += 0.5 * stamps
    v[:, 0] += 0.5
    effort = 3.0 * a + 2.0 * v + np.sign(v) + 0.1 * rng.normal(size=q.shape)
    if kind == 'missing':
        effort[rng.random(effort.shape) < 0.02] = np.nan
        effort[3000:3400, 0] = np.nan
        effort[:50] = np.nan
    q[:, 0] = np.mod(q[:, 0] + np.pi, 2.0 * np.pi) - np.pi
    return JointRecord('log', stamps, q, v, effort)


@dataclass(frozen=True, eq=False)
class InBlocks:
    """A log that comes in blocks, and counts them."""

    record: JointRecord
    sizes: tuple[int, ...] = (1, 700, 3, 1500, 4000)
    has_effort: bool = True

    name = 'log'
    notes = ()
    has_velocity = True

    @property
    def stamps(self) -> np.ndarray:
        return self.record.stamps

    @property
    def expected_samples(self) -> int:
        return len(self.record.stamps)

    def opened(self) -> InBlocks:
        return self

    def blocks(self) -> Iterator[JointRecord]:
        begin, number = 0, 0
        while begin < len(self.record.stamps):
            size = self.sizes[number % len(self.sizes)]
            yield self.record.picked(slice(begin, begin + size))
            begin, number = begin + size, number + 1

    def excerpts(self) -> Sequence[JointRecord]:
        return [self.record.picked(slice(0, 3000))]


def halves(stream: SampleStream) -> JointSamples:
    """Return all samples, read in three cuts of uneven size."""
    count = len(stream.stamps)
    edges = [0, 17, count // 2, count]
    slices = [slice(a, b) for a, b in zip(edges, edges[1:])]
    parts = list(stream.cut(slices))
    assert [len(part.stamps) for part in parts] == [17, count // 2 - 17, count - count // 2]
    return JointSamples.joined(parts)


@pytest.mark.parametrize('delay', [0.0, 0.013, -0.2])
@pytest.mark.parametrize('kind', ['plain', 'gaps', 'missing'])
def test_windows_give_the_samples_of_the_whole(
    arm: RobotModel, kind: str, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(60.0, kind)
    moved = prepared_record(arm, log, delay)
    whole = joint_samples(moved.stamps, moved.position, moved.velocity, moved.effort, 20.0)
    assert np.ptp(whole.q[:, 0]) > 20.0  # it counts turns
    monkeypatch.setattr(record_windows, 'WINDOW', 900)
    blocks = InBlocks(log, has_effort=log.has_effort)
    stream = SampleStream(arm, blocks, LogFilter(CUTOFFS, delay=delay), is_fitted=True)
    found = halves(stream)
    assert np.array_equal(found.stamps, whole.stamps)
    assert np.array_equal(found.stamps, stream.stamps)
    assert np.array_equal(found.use, whole.use)
    assert found.velocity_source == whole.velocity_source == 'measured'
    for name in ('q', 'v', 'a', 'tau'):
        mine, its = getattr(found, name), getattr(whole, name)
        # 1e-13 is left of the filter's memory at the margins.
        assert np.abs(mine - its).max() < 1e-10 * np.abs(its).max(), name


def test_only_the_joint_whose_velocity_is_wrong_is_differentiated(
    arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(60.0)
    assert log.velocity is not None
    spoiled = replace(log, velocity=log.velocity * [1.0, 1.3])
    (whole,) = unwrapped_blocks(arm, [spoiled])
    expected = joint_samples(whole.stamps, whole.position, whole.velocity, whole.effort, 20.0)
    monkeypatch.setattr(record_windows, 'WINDOW', 900)
    streams = [
        SampleStream(arm, InBlocks(one), LogFilter(CUTOFFS), is_fitted=True)
        for one in (spoiled, log)
    ]
    found, right = (halves(stream) for stream in streams)
    assert found.velocity_source == expected.velocity_source == 'both'
    assert np.abs(found.v - expected.v).max() < 1e-10 * np.abs(expected.v).max()  # as above
    assert np.array_equal(found.v[:, 0], right.v[:, 0])
    # The position has no noise: what is left is the start of the filter, at the ends.
    middle = slice(100, -100)
    difference = np.abs(found.v - right.v)[middle, 1].max()
    assert difference < 1e-3 * np.abs(right.v[:, 1]).max()


def test_log_that_is_too_slow_for_the_others_is_named_with_the_way_out(arm: RobotModel) -> None:
    log = log_of(60.0)
    slow = replace(log.picked(slice(None, None, 20)), name='slow')  # 10 Hz
    options = IdentificationOptions(friction='coulomb', prior_weight=10.0)
    with pytest.raises(ConfigurationError, match=r'^slow has 10\.\d* samples per second') as info:
        identify(arm, [log, slow], [], options)
    said = str(info.value)
    assert 'chosen for the longest log' in said
    assert 'leave this log out' in said
    highest = float(said.partition('cutoff below ')[2].partition(' Hz with --cutoff')[0])
    cutoffs = record_cutoffs(arm, log, 0.99 * highest)
    stream = SampleStream(arm, slow, LogFilter(cutoffs), is_fitted=True)
    assert np.isfinite(stream.whole().a).all()


def test_efforts_at_all_stamps_are_those_of_one_window(
    arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watched(window: int) -> list[np.ndarray]:
        monkeypatch.setattr(record_windows, 'WINDOW', window)
        seen: list[StampedSamples] = []
        log = log_of(60.0, 'missing')
        stream = SampleStream(
            arm, InBlocks(log, has_effort=False), LogFilter(CUTOFFS), is_fitted=False
        )
        for _ in stream.cut_and_watch([slice(0, len(stream.stamps))], seen.append):
            pass
        columns = [(s.samples.stamps, s.samples.a, s.filtered, s.bridged) for s in seen]
        assert len(seen) == max(1, round(12000 / window))
        return [np.concatenate(parts) for parts in zip(*columns)]

    for mine, its in zip(watched(1000), watched(100_000)):
        assert np.abs(mine - its).max() < 1e-10 * np.abs(its).max()  # as above


def test_identification_does_not_depend_on_windows(
    arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(60.0)
    training, held_out = log.between(0.0, 40.0), log.between(40.0, 99.0)
    options = IdentificationOptions(friction='coulomb', prior_weight=10.0, cutoff=5.0)
    whole = identify(arm, [training], [held_out], options)
    monkeypatch.setattr(record_windows, 'WINDOW', 900)
    blocks = identify(arm, [InBlocks(training)], [InBlocks(held_out)], options)
    # 1e-10 of the samples, times the condition of the fit (below 1e3), in units that differ.
    size = np.abs(whole.linear.base).max()
    assert np.abs(blocks.linear.base - whole.linear.base).max() < 1e-7 * size
    for whose, measures in whole.held_out.items():
        for against, measure in measures.items():
            found = blocks.held_out[whose][against].relative
            assert found == pytest.approx(measure.relative, rel=1e-7)


def test_memory_does_not_grow_with_the_log(
    arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_windows, 'WINDOW', 2000)
    peaks = []
    for seconds in (100.0, 400.0):
        blocks = InBlocks(log_of(seconds), sizes=(1000,))
        tracemalloc.start()
        stream = SampleStream(arm, blocks, LogFilter(CUTOFFS), is_fitted=True)
        edges = np.arange(0, len(stream.stamps) + 500, 500).clip(max=len(stream.stamps)).tolist()
        for _ in stream.cut([slice(a, b) for a, b in zip(edges, edges[1:])]):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Steps, medians and the grid of 60000 further stamps: 8 bytes each. All samples of two joints,
    # filtered and differentiated, would need 300 bytes each.
    assert peaks[1] - peaks[0] < 60_000 * 40


def test_turns_go_on_from_block_to_block(arm: RobotModel) -> None:
    log = log_of(60.0)
    whole = prepared_record(arm, log, 0.0).position
    found = np.concatenate([b.position for b in unwrapped_blocks(arm, InBlocks(log).blocks())])
    assert np.abs(found - whole).max() < 1e-12  # rounding
    assert np.abs(np.diff(found[:, 0])).max() < 1.0


def test_cutoffs_of_stretches_are_those_of_the_motion(arm: RobotModel) -> None:
    log = log_of(60.0)
    whole = record_cutoffs(arm, log)
    # A window of 15 s widens lines by 2/15 Hz, times 8 for the cutoff.
    assert record_cutoffs(arm, InBlocks(log)).cutoff == pytest.approx(whole.cutoff, abs=1.1)


def test_log_that_changes_between_readings_is_refused(arm: RobotModel) -> None:
    log = log_of(20.0)

    class Shorter(InBlocks):
        """A log of which less can be read the second time."""

        def blocks(self) -> Iterator[JointRecord]:
            yield log.picked(slice(0, 1000))

    with pytest.raises(ConfigurationError, match='has 1000 samples, and had 4000'):
        SampleStream(arm, Shorter(log), LogFilter(CUTOFFS), is_fitted=True).whole()


def test_too_short_log_is_refused(arm: RobotModel) -> None:
    log = log_of(20.0).picked(slice(0, 9))
    with pytest.raises(ConfigurationError, match='9 of 9 samples can be filtered'):
        SampleStream(arm, log, LogFilter(CUTOFFS), is_fitted=True)

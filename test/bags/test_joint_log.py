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

from bags.making import make_bag, START, State, STEP, swing
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.exceptions import BagError


def test_joints_are_found_by_name_in_every_message(tmp_path: Path) -> None:
    states = swing(50)
    shuffled = [
        state
        if index % 3
        else replace(
            state,
            names=('b', 'a'),
            position=state.position[::-1],
            velocity=state.velocity[::-1],
            effort=state.effort[::-1],
        )
        for index, state in enumerate(states)
    ]
    plain = read_joint_log(make_bag(tmp_path / 'plain', states))
    log = read_joint_log(make_bag(tmp_path / 'shuffled', shuffled))
    ordered = log.select(('a', 'b'))
    assert np.array_equal(ordered.position, plain.position)
    assert ordered.effort is not None and plain.effort is not None
    assert np.array_equal(ordered.effort, plain.effort)


def test_contradictory_messages_are_counted_and_left_out(tmp_path: Path) -> None:
    states = swing(40)
    states[3] = replace(states[3], position=[1.0])
    states[5] = replace(states[5], velocity=[1.0, 2.0, 3.0])
    states[6] = replace(states[6], velocity=[1.0])
    states[8] = replace(states[8], effort=[1.0])
    states[9] = replace(states[9], names=('a', 'a'))
    states[11] = State(states[11].stamp, (), ())
    states[12] = State(states[12].stamp, ('a', 'b'), ())
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.counts == {
        'messages': 40,
        'with a wrong number of positions': 1,
        'with a wrong number of velocities': 2,
        'with a wrong number of efforts': 1,
        'with a joint name twice': 1,
        'without joints': 1,
        'without values': 1,
    }
    assert len(log.stamps) == 33
    assert '2 messages with a wrong number of velocities were left out' in log.notes


def test_a_bag_without_a_usable_message_is_refused(tmp_path: Path) -> None:
    states = [replace(state, position=[1.0]) for state in swing(4)]
    with pytest.raises(BagError, match='no usable message of 4 .*wrong number of positions'):
        read_joint_log(make_bag(tmp_path / 'bag', states))
    with pytest.raises(BagError, match='1 usable samples, expected at least 2'):
        read_joint_log(make_bag(tmp_path / 'single', swing(1)))


def test_missing_fields_are_unknown_and_not_zero(tmp_path: Path) -> None:
    states = [replace(state, velocity=(), effort=()) for state in swing(20)]
    log = read_joint_log(make_bag(tmp_path / 'none', states))
    assert log.velocity is None and log.effort is None
    assert log.notes == ('the log has no velocity', 'the log has no effort')
    states = swing(20)
    states[4] = replace(states[4], velocity=())
    states[7] = replace(states[7], effort=(np.nan, 2.0))
    log = read_joint_log(make_bag(tmp_path / 'some', states))
    assert log.velocity is not None and log.effort is not None
    assert np.isnan(log.velocity[4]).all() and np.isfinite(log.velocity[5]).all()
    assert np.isnan(log.effort[7, 0]) and log.effort[7, 1] == 2.0


def test_efforts_alone_are_a_log_but_no_motion(tmp_path: Path) -> None:
    states = [replace(state, position=(), velocity=()) for state in swing(20)]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.effort is not None and np.isfinite(log.effort).all()
    assert log.notes == ('the log has no position', 'the log has no velocity')
    with pytest.raises(BagError, match='no position of a, b'):
        log.select(('a', 'b'))


def test_nan_in_a_joint_that_is_not_used_does_no_harm(tmp_path: Path) -> None:
    states = swing(20, ('arm', 'wheel'))
    states[4] = replace(states[4], position=(0.5, np.nan))
    states[6] = replace(states[6], position=(np.inf, 0.5))
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    arm = log.select(('arm',))
    assert len(arm.stamps) == 19
    assert arm.position[4, 0] == 0.5
    assert '1 samples without a finite position were left out' in arm.notes
    assert len(log.select(('wheel',)).stamps) == 19


def test_repeated_and_late_stamps_are_cleaned_and_counted(tmp_path: Path) -> None:
    states = swing(60)
    states[10] = replace(states[10], stamp=states[9].stamp)
    states[20], states[21] = states[21], states[20]
    for index in (20, 21):
        states[index] = replace(states[index], log_time=START + index * STEP)
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.counts == {'messages': 60, 'repeated stamp': 1, 'out of order': 1}
    assert (np.diff(log.stamps) > 0.0).all()
    # Both times were rounded on their way, to 1e-16 s or so.
    assert np.allclose(log.position[:, 0], np.sin(log.stamps), rtol=0.0, atol=1e-14)


def test_clock_reset_keeps_the_longest_run(tmp_path: Path) -> None:
    first = [
        replace(state, stamp=state.stamp + 50_000_000_000, log_time=state.stamp)
        for state in swing(30)
    ]
    second = [replace(state, log_time=state.stamp + 1_000_000_000) for state in swing(70)]
    log = read_joint_log(make_bag(tmp_path / 'bag', first + second))
    assert len(log.stamps) == 70
    assert log.start == START
    assert log.counts['clock resets'] == 1
    assert log.counts['outside longest run'] == 30


def test_empty_stamps_use_the_recording_time(tmp_path: Path) -> None:
    states = [replace(state, stamp=0, log_time=state.stamp) for state in swing(30)]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert len(log.stamps) == 30
    assert log.stamps[-1] == pytest.approx(0.29, abs=1e-9)
    assert 'recording times are used instead' in log.notes[0]
    states = swing(30)
    states[7] = replace(states[7], stamp=0, log_time=states[7].stamp)
    log = read_joint_log(make_bag(tmp_path / 'one', states))
    assert log.counts['empty stamp'] == 1
    assert len(log.stamps) == 29


def test_clock_that_starts_at_zero_is_not_empty(tmp_path: Path) -> None:
    states = [replace(state, stamp=state.stamp - START) for state in swing(30)]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert len(log.stamps) == 30
    assert log.notes == ()


def test_header_stamps_win_over_recording_times(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    states = [
        replace(state, log_time=state.stamp + 5_000_000 + int(rng.integers(9_000_000)))
        for state in swing(50)
    ]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert np.allclose(np.diff(log.stamps), 0.01, atol=1e-12)


def test_gaps_are_counted(tmp_path: Path) -> None:
    states = swing(100)
    del states[40:60], states[70]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.counts['gaps'] == 1  # 21 steps; a single lost message is none
    assert '1 gaps, the longest of 0.21 s (median step 10 ms)' in log.notes
    assert log.rate == pytest.approx(100.0)


def test_gripper_in_messages_of_its_own_is_interpolated(tmp_path: Path) -> None:
    arm = swing(100)
    gripper = [
        State(START + k * 5 * STEP + STEP // 2, ('finger',), (0.001 * k,)) for k in range(15)
    ]
    states = sorted(arm + gripper, key=lambda state: state.stamp)
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.joint_names == ('a', 'b', 'finger')
    assert len(log.stamps) == 100
    finger = log.select(('a', 'finger'))
    # The finger moves 1 mm in 50 ms, seen first at 5 ms and last at 705 ms.
    assert np.allclose(finger.position[:, 1], (finger.stamps + 0.01 - 0.005) * 0.02, atol=1e-12)
    assert len(finger.stamps) == 70
    assert len(log.select(('a', 'b')).stamps) == 100
    assert any('finger come in 15 messages of their own' in note for note in log.notes)


def test_select_renames_and_refuses_unknown_joints(tmp_path: Path) -> None:
    log = read_joint_log(make_bag(tmp_path / 'bag', swing(10)))
    renamed = log.select(('arm_b', 'a'), {'b': 'arm_b'})
    assert renamed.joint_names == ('arm_b', 'a')
    assert np.array_equal(renamed.position, log.position[:, ::-1])
    with pytest.raises(BagError, match='no joint elbow; it has: a, b'):
        log.select(('a', 'elbow'))
    with pytest.raises(ValueError, match='read-only'):
        renamed.position[0, 0] = 1.0


def test_long_logs_grow_without_loss(tmp_path: Path) -> None:
    # Growth by doubling across several sizes; the numbers must survive it.
    states = swing(5000, ('a', 'b', 'c'))
    seen: list[int] = []
    log = read_joint_log(make_bag(tmp_path / 'bag', states, storage='mcap'), advance=seen.append)
    assert np.array_equal(log.position[:, 2], [state.position[2] for state in states])
    assert sum(seen) == 5000

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

"""Priority, processors and locked memory, on the threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
import os
import resource
import threading

import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.ros.realtime import apply_scheduling, Scheduling


@pytest.fixture
def other_thread() -> Iterator[int]:
    """Another thread of the process, as the middleware has some."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert thread.native_id is not None
    yield thread.native_id
    end.set()
    thread.join()


def may_raise_priority() -> bool:
    """Whether this user may use SCHED_FIFO, tried in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_nothing_asked_for_changes_nothing() -> None:
    before = os.sched_getaffinity(0), os.sched_getscheduler(0)
    apply_scheduling(Scheduling())()
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == before


def test_every_thread_is_pinned_and_let_go_again(other_thread: int) -> None:
    before = os.sched_getaffinity(0)
    cpu = min(before)
    undo = apply_scheduling(Scheduling(cpus=(cpu,)))
    try:
        assert os.sched_getaffinity(0) == os.sched_getaffinity(other_thread) == {cpu}
    finally:
        undo()
    assert os.sched_getaffinity(0) == os.sched_getaffinity(other_thread) == before


def test_processor_that_is_not_there_is_named() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(ConfigurationError, match=r'realtime\.cpus: .* may not run on 4095'):
        apply_scheduling(Scheduling(cpus=(min(before), 4095)))
    assert os.sched_getaffinity(0) == before


def test_priority_is_raised_on_every_thread_or_refused_with_the_way_out(
    other_thread: int,
) -> None:
    if not may_raise_priority():
        with pytest.raises(ConfigurationError, match='rtprio 7'):
            apply_scheduling(Scheduling(priority=7))
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
        return
    undo = apply_scheduling(Scheduling(priority=7))
    try:
        for thread in (0, other_thread):
            assert os.sched_getscheduler(thread) == os.SCHED_FIFO
            assert os.sched_getparam(thread).sched_priority == 7
    finally:
        undo()
    for thread in (0, other_thread):
        assert os.sched_getscheduler(thread) == os.SCHED_OTHER


def test_refusal_undoes_what_was_set_before() -> None:
    limits = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    before = os.sched_getaffinity(0)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, limits[1]))
    try:
        with pytest.raises(ConfigurationError, match='not permitted beyond 4096 bytes'):
            apply_scheduling(Scheduling(cpus=(min(before),), lock_memory=True))
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, limits)
    assert os.sched_getaffinity(0) == before

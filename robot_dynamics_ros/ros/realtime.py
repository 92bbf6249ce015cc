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

"""
What Linux lets a process do against delays: priority, processors, memory that stays in place.

All threads of the process are meant, those of the middleware too, because a message passes through
them. What is asked for and not permitted is refused, with the way to permit it.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import ctypes
from dataclasses import dataclass
import os
import resource

from robot_dynamics_ros.core.exceptions import ConfigurationError

_MCL_CURRENT, _MCL_FUTURE = 1, 2


@dataclass(frozen=True)
class Scheduling:
    """
    What is asked for.

    Attributes
    ----------
    priority : int
        Priority under SCHED_FIFO, 1 to 99; 0 leaves the scheduling as it is.
    cpus : tuple of int
        Processors to run on; empty for all.
    lock_memory : bool
        Whether memory is kept from being swapped out.

    """

    priority: int = 0
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False


def apply_scheduling(wanted: Scheduling) -> Callable[[], None]:
    """
    Set what is asked for, on every thread that the process has now; return what undoes it.

    Raises
    ------
    ConfigurationError
        If it is not permitted or not possible here; nothing is changed then.

    """
    undo: list[Callable[[], None]] = []
    try:
        if wanted.cpus:
            undo.append(_pin(wanted.cpus))
        if wanted.priority:
            undo.append(_raise_priority(wanted.priority))
        if wanted.lock_memory:
            undo.append(_lock_memory())
    except ConfigurationError:
        _run(undo)
        raise
    return lambda: _run(undo)


def _run(actions: Sequence[Callable[[], None]]) -> None:
    for action in reversed(actions):
        action()


def _threads() -> Iterator[int]:
    for name in os.listdir('/proc/self/task'):
        yield int(name)


def _pin(cpus: Sequence[int]) -> Callable[[], None]:
    before = os.sched_getaffinity(0)
    missing = sorted(set(cpus) - before)
    if missing:
        raise ConfigurationError(
            f'realtime.cpus: this process may not run on {", ".join(map(str, missing))}, only on '
            f'{", ".join(map(str, sorted(before)))}'
        )
    _on_threads(lambda thread: os.sched_setaffinity(thread, cpus))
    return lambda: _on_threads(lambda thread: os.sched_setaffinity(thread, before))


def _raise_priority(priority: int) -> Callable[[], None]:
    parameters = os.sched_param(priority)
    try:
        # The calling thread first: if it may not, nothing has been changed.
        os.sched_setscheduler(0, os.SCHED_FIFO, parameters)
    except OSError as error:
        raise ConfigurationError(
            f'realtime.priority {priority} is not permitted ({error.strerror}); allow it by a '
            f"line 'USER - rtprio {priority}' in /etc/security/limits.conf, or set it to 0"
        ) from error
    _on_threads(lambda thread: os.sched_setscheduler(thread, os.SCHED_FIFO, parameters))
    rest = os.sched_param(0)
    return lambda: _on_threads(lambda t: os.sched_setscheduler(t, os.SCHED_OTHER, rest))


def _on_threads(action: Callable[[int], None]) -> None:
    for thread in _threads():
        try:
            action(thread)
        except ProcessLookupError:
            continue  # it has ended meanwhile


def _lock_memory() -> Callable[[], None]:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    libc = ctypes.CDLL(None, use_errno=True)
    # With a limit, an allocation in the middle of control would fail one day.
    if limit != resource.RLIM_INFINITY:
        raise ConfigurationError(
            f'realtime.lock_memory is not permitted beyond {limit} bytes; allow it by a line '
            "'USER - memlock unlimited' in /etc/security/limits.conf, or set it to false"
        )
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE) != 0:
        raise ConfigurationError(
            f'realtime.lock_memory: {os.strerror(ctypes.get_errno())}; set it to false'
        )
    return lambda: libc.munlockall()

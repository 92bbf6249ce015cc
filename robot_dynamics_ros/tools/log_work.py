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
Work on many logs: here, in processes of this machine, or on a Dask cluster.

Results come in the order of the logs, whoever is done first, so that sums of them do not depend on
where the work was done.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass
from functools import partial
import multiprocessing
import os
import signal
import threading
from typing import Any

from robot_dynamics_ros.core.exceptions import ConfigurationError, RobotDynamicsError
from robot_dynamics_ros.core.identification.identification import Work
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import whole_number_between

REACHED_WITHIN = 10.0
"""Time for a Dask cluster to answer [s]."""


def add_work_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where the work on several logs is done."""
    group = parser.add_argument_group('many logs')
    group.add_argument(
        '--processes',
        type=whole_number_between(1),
        metavar='N',
        help='processes that share the logs; as many as cores and logs by default, 1 for none '
        'but this one',
    )
    group.add_argument(
        '--dask',
        metavar='ADDRESS',
        help='share the logs on the Dask cluster with this scheduler, as in tcp://10.0.0.5:8786; '
        'its workers need this package and the same paths of the logs',
    )


@contextmanager
def work_on_logs(args: argparse.Namespace, logs: int) -> Iterator[Work]:
    """
    Give a `map` for the work on logs.

    Parameters
    ----------
    args : argparse.Namespace
        Those of `add_work_arguments`.
    logs : int
        How many there are; one alone is worked on here.

    Raises
    ------
    ConfigurationError
        If the Dask cluster does not answer, or Dask is not installed.

    """
    with ExitStack() as stack:
        if args.dask is not None:
            if args.processes is not None:
                raise ConfigurationError('--dask and --processes exclude each other')
            client = stack.enter_context(_dask_client(args.dask))
            yield partial(_shared, partial(client.submit, pure=False))
            return
        processes = min(logs, args.processes or _cores())
        if processes == 1:
            yield _alone
            return
        yield stack.enter_context(_processes(processes))


@contextmanager
def _processes(number: int) -> Iterator[Work]:
    """
    Give a `map` for work in processes, which end at once if it fails or is interrupted.

    They do not hear an interrupt from the keyboard, which reaches all processes of a terminal:
    this one ends them. If it is killed itself, they notice.

    """
    others = set(multiprocessing.active_children())
    # Not forked: threads of libraries do not survive that.
    context = multiprocessing.get_context('spawn')
    pool = ProcessPoolExecutor(number, mp_context=context, initializer=_watch_parent)

    def submit(*task: Any) -> Future[Any]:
        with _held_interrupt():  # processes are started here, and inherit it
            return pool.submit(*task)

    try:
        yield partial(_shared, submit)
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _held_interrupt() -> Iterator[None]:
    """Put off an interrupt from the keyboard until the end of the block."""
    if not hasattr(signal, 'pthread_sigmask'):  # not on every system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _watch_parent() -> None:
    """End this process when the one that started it is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@dataclass(frozen=True)
class _Refusal:
    """What a process says instead of a result."""

    reason: str


def _guarded(function: Callable[[Any], Any], item: Any) -> Any:
    """Return the refusal of an item in words: not every exception passes between processes."""
    try:
        return function(item)
    except (RobotDynamicsError, OSError, MemoryError) as error:
        return _Refusal(str(error) or type(error).__name__)


def _shared(
    submit: Callable[..., Future[Any]], function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterable[Any]:
    waiting = [submit(_guarded, function, item) for item in items]
    waiting.reverse()  # to let go of each as its result is taken
    with Progress('logs', len(items)) as progress:
        for item in items:
            try:
                result = waiting.pop().result()
            except BrokenProcessPool as error:
                raise ConfigurationError(
                    f'a process that worked on {_name(item)} or a log after it was ended from '
                    'outside, for lack of memory perhaps; with --processes 1 there is only one'
                ) from error
            if isinstance(result, _Refusal):
                for future in waiting:
                    future.cancel()
            yield _accepted(result, item)
            progress.advance()


def _alone(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    for item in items:
        yield _accepted(_guarded(function, item), item)


def _accepted(result: Any, item: Any) -> Any:
    """Return a result, or raise the error that names the log."""
    if isinstance(result, _Refusal):
        raise ConfigurationError(_with_name(result.reason, _name(item)))
    return result


def _name(item: Any) -> str:
    """Return the name of a log, or of one that something goes with."""
    return str(item[0].name if isinstance(item, tuple) else item.name)


def _with_name(reason: str, name: str) -> str:
    return reason if name in reason else f'{name}: {reason}'


@contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigurationError(
            '--dask needs distributed, which is not installed: pip install distributed'
        ) from error
    try:
        client = Client(address, timeout=REACHED_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f'no Dask scheduler answers at {address} within {REACHED_WITHIN:g} s: start one with '
            '`dask scheduler`, or leave --dask out'
        ) from error
    with client:
        if not client.scheduler_info()['workers']:
            raise ConfigurationError(
                f'the Dask scheduler at {address} has no workers: start them with '
                f'`dask worker {address}`'
            )
        yield client


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1

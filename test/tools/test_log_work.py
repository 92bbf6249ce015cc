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

"""Processes that share logs: what happens when one dies, and when they are to end."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
import multiprocessing
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.tools.log_work import work_on_logs

TWO = Namespace(dask=None, processes=2)

PROGRAM = """
from argparse import Namespace
from http import HTTPStatus
import multiprocessing
import sys
import threading
import time

from robot_dynamics_ros.tools.log_work import work_on_logs

def tell():
    while len(multiprocessing.active_children()) < 2:
        time.sleep(0.05)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)

if __name__ == '__main__':
    threading.Thread(target=tell, daemon=True).start()
    try:
        with work_on_logs(Namespace(dask=None, processes=2), 2) as work:
            list(work(time.sleep, [HTTPStatus.OK, HTTPStatus.OK]))  # 200 s
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_process_that_dies_is_one_line() -> None:
    # Each of these kills the process that works on it; an item must only have a name.
    with pytest.raises(ConfigurationError, match='SIGKILL or a log after it was ended'):
        with work_on_logs(TWO, 2) as work:
            list(work(signal.raise_signal, 2 * [signal.SIGKILL]))
    assert not multiprocessing.active_children()


def test_failure_does_not_wait_for_what_others_do() -> None:
    with pytest.raises(ZeroDivisionError):
        with work_on_logs(TWO, 2) as work:
            waiting = iter(work(time.sleep, [HTTPStatus.CONTINUE, HTTPStatus.OK]))  # 100, 200 s
            with _alarm(2.0):
                next(waiting)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize('how', ['interrupt', 'kill'])
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, how: str) -> None:
    script = tmp_path / 'program.py'
    script.write_text(PROGRAM, encoding='utf-8')
    program = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert program.stdout is not None and program.stderr is not None
    children = [int(word) for word in program.stdout.readline().split()]
    assert len(children) == 2
    if how == 'interrupt':
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
    else:
        program.kill()
    # Their ends of the pipes close when all have ended: they sleep for 200 s otherwise.
    _, error = program.communicate(timeout=100.0)
    assert not [pid for pid in children if _is_alive(pid)]
    if how == 'interrupt':
        assert program.returncode == 130
        assert 'Traceback' not in error


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise in the block after some time."""

    def ring(*_: object) -> None:
        raise ZeroDivisionError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8')
    except OSError:
        return False
    return status.rpartition(')')[2].split()[0] != 'Z'

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
Nodes as processes of their own: start them, notice when one dies, and end them in order.

A child is in a session of its own, so that Ctrl-C in the terminal reaches this process only, which
then ends the controller before the plant: its torque is ramped down on live states. If this
process is killed outright, the kernel sends the children the signal to stop.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any

from robot_dynamics_ros.core.exceptions import RobotDynamicsError

STOP_TIMEOUT = 6.0
"""A node comes to rest within 5 s of a signal; after this time it is killed [s]."""

_PR_SET_PDEATHSIG = 1
_LOG_TAIL = 3


class DemoError(RobotDynamicsError):
    """The demonstration cannot go on; the message says what happened."""


class NodeProcess:
    """
    A node of this package in a process.

    Parameters
    ----------
    node : str
        Name of the node and of its module, such as ``inverse_dynamics_node``.
    parameter_file : Path
        Its parameters.
    parameters : mapping of str to object
        Parameters over those of the file, numbers, booleans and texts.
    log : Path
        File for what it prints.
    environment : mapping of str to str
        Environment of the process.

    """

    def __init__(
        self,
        node: str,
        parameter_file: Path,
        parameters: Mapping[str, Any],
        log: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.node = node
        self.log = log
        program = f'from robot_dynamics_ros.nodes.{node} import main; main()'
        command = [sys.executable, '-c', program]
        command += ['--ros-args', '--params-file', str(parameter_file)]
        for name, value in parameters.items():
            command += ['-p', f'{name}:={_yaml(value)}']
        with log.open('wb') as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_die_with_parent if _LIBC is not None else None,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def require_alive(self) -> None:
        """
        Pass if the process runs.

        Raises
        ------
        DemoError
            If it has ended, with its last lines.

        """
        code = self._process.poll()
        if code is None:
            return
        raise DemoError(f'{self.node} died with {_end(code)}{self.last_words()}')

    def last_words(self) -> str:
        """Return its last complaints in one line, after a colon; empty if there are none."""
        lines = self.log.read_text(errors='replace').splitlines()
        lines = [line.strip() for line in lines if line.strip() and '[INFO]' not in line]
        return f': {" | ".join(lines[-_LOG_TAIL:])}' if lines else ''

    def stop(self) -> int:
        """Ask it to come to rest and wait for its end, or kill it; return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class NodeProcesses:
    """
    The nodes of the demonstration, as a context manager.

    They are stopped in the order in which they were added, whatever happens, and no signal cuts
    that short.

    """

    def __init__(self) -> None:
        self._nodes: list[NodeProcess] = []
        self._codes: dict[str, int] = {}

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(self, *exception: object) -> None:
        before = {number: signal.signal(number, signal.SIG_IGN) for number in _STOP_SIGNALS}
        try:
            for node in self._nodes:
                self._codes[node.node] = node.stop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def add(self, node: NodeProcess) -> NodeProcess:
        """Take a process in."""
        self._nodes.append(node)
        return node

    def last_words(self, node: str) -> str:
        """Return the last complaints of a node, see `NodeProcess.last_words`."""
        return ''.join(each.last_words() for each in self._nodes if each.node == node)

    def bad_ends(self) -> str:
        """Return which of the stopped nodes did not end with code 0, and how; empty if none."""
        return ', '.join(
            f'{node} ended with {_end(code)}' for node, code in self._codes.items() if code
        )

    def require_alive(self) -> None:
        """
        Pass if all run.

        Raises
        ------
        DemoError
            If one has ended.

        """
        for node in self._nodes:
            node.require_alive()


_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    """Let SIGTERM and a closed terminal end the program as Ctrl-C does."""
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)


def child_environment() -> dict[str, str]:
    """Return this process's environment, with this package on the path of modules."""
    package_parent = str(Path(__file__).resolve().parents[2])
    paths = [package_parent, *filter(None, [os.environ.get('PYTHONPATH')])]
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(paths), 'PYTHONUNBUFFERED': '1'}


def _end(code: int) -> str:
    return f'signal {signal.Signals(-code).name}' if code < 0 else f'exit code {code}'


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f'[{", ".join(_yaml(entry) for entry in value)}]'
    return str(value)


def _libc() -> Any:
    if not sys.platform.startswith('linux'):
        return None
    return ctypes.CDLL(None, use_errno=True)


_LIBC = _libc()


def _die_with_parent() -> None:
    """Run in the child before it becomes the node."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)

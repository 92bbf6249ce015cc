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
The stream of commands to a robot, seen by somebody who may have to take its place.

The watcher hears its own commands, too, when it publishes on the same topic. They are told from
those of others by their numbers: it remembers what it has sent.

Silence proves nothing while the watcher itself was held up: the command that it knows may be an
old one. So after a pause of its own the silence is counted anew, but only once in each silence, so
that a watcher on a slow machine comes to a verdict, too.

"""

from __future__ import annotations

from collections import deque
from enum import Enum
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError

_REMEMBERED = 256

_HELD_UP = 0.05
"""Time between two looks after which commands may have been missed [s]."""


class CommandOutcome(str, Enum):
    """What became of one command."""

    ACCEPTED = 'accepted'
    OWN = 'own'
    ARRAY_LENGTH = 'array_length'
    NOT_FINITE = 'not_finite'


class CommandWatch:
    """
    Notice when commands fall silent while the robot is under torque.

    Parameters
    ----------
    n : int
        Number of joints.
    timeout : float
        Silence that is too long [s].

    Attributes
    ----------
    last : ndarray, shape (n,)
        The last command of others [N m | N], zeros before the first.
    counters : dict of str to int
        Number of commands by the value of their `CommandOutcome`.

    Raises
    ------
    ConfigurationError
        If the timeout is not positive.

    """

    def __init__(self, n: int, timeout: float) -> None:
        if not 0.0 < timeout < inf:
            raise ConfigurationError(f'timeout is {timeout} s, expected > 0')
        self.timeout = timeout
        self.last: Vector = np.zeros(n)
        self.counters = dict.fromkeys((outcome.value for outcome in CommandOutcome), 0)
        self._received = -inf
        self._looked = -inf
        self._is_excused = False
        self._sent: deque[bytes] = deque(maxlen=_REMEMBERED)

    def note_sent(self, command: Vector) -> None:
        """Remember a command that the watcher is about to send, shape (n,)."""
        self._sent.append(command.tobytes())

    def take(self, command: Any, now: float) -> CommandOutcome:
        """
        Take in one command from the topic.

        Parameters
        ----------
        command : array_like of float
            Its numbers [N m | N].
        now : float
            Time of receipt on a steady clock [s].

        Returns
        -------
        outcome : CommandOutcome
            Nothing is raised on bad data.

        """
        outcome = self._judge(np.asarray(command, dtype=np.float64), now)
        self.counters[outcome.value] += 1
        return outcome

    def _judge(self, command: Vector, now: float) -> CommandOutcome:
        if command.shape != self.last.shape:
            return CommandOutcome.ARRAY_LENGTH
        if self._is_echo(command.tobytes()):
            return CommandOutcome.OWN
        if not np.isfinite(command).all():
            return CommandOutcome.NOT_FINITE
        self.last[:] = command
        self._received = now
        self._is_excused = False
        self._sent.clear()
        return CommandOutcome.ACCEPTED

    def _is_echo(self, content: bytes) -> bool:
        """Whether the watcher has sent this; each of its commands comes back once at most."""
        if content not in self._sent:
            return False
        while self._sent.popleft() != content:
            continue  # of those before it the echo was lost
        return True

    def silence(self, now: float) -> float:
        """Return the time since the last command of others [s]; inf before the first."""
        return now - self._received

    def look(self, now: float) -> bool:
        """
        Note that the watcher is awake; to be called all the time, before `is_abandoned`.

        Returns
        -------
        was_held_up : bool
            Whether it has not looked for so long that commands may still be on their way to it.

        """
        was_held_up = -inf < self._looked < now - _HELD_UP
        self._looked = now
        if was_held_up and not self._is_excused:
            self._is_excused = True
            self._received = max(self._received, now)
        return was_held_up

    def is_abandoned(self, now: float) -> bool:
        """Whether the robot is under torque and nobody has commanded it for too long."""
        return bool(self.last.any()) and self.silence(now) > self.timeout

    def forget(self) -> None:
        """Forget the last command, once its torque has been brought down."""
        self.last.fill(0.0)  # not what was sent: its echo is still to come

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
Playing a trajectory on an arm whose controller follows trajectories by itself.

From where the arm is it goes to the start of the trajectory, slowly and from rest to rest, waits
there, and follows it at a share of its speed. All of this is one motion, which is handed to the
controller as a whole. What is watched is whether joint states keep coming and whether the arm is
where the motion is; otherwise, and when asked to, a second motion takes over, which brings the arm
to rest on the path of the first one.

Times are those of the clock that the controller goes by, except ages of states.

"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import sqrt
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
    ConfigurationError,
    TrajectoryError,
)
from robot_dynamics_ros.core.trajectory.braking import braking_trajectory
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

PAUSE = 0.5
"""At the start of the trajectory, before it is followed [s]."""

AT_REST = 0.05
"""Speed up to which an arm counts as standing still [rad/s | m/s]."""

_PEAK_SPEED, _PEAK_ACCELERATION = 1.875, 10.0 / sqrt(3.0)
"""Of the quintic from rest to rest, in ways by time, and by its square."""

_SHORTEST_APPROACH = 0.5
_OWN_SHARE = 1.2
"""Braking acceleration by default, in peaks of the motion's own one, at least."""


class PlayerState(str, Enum):
    """What the player is doing."""

    IDLE = 'idle'
    PLAYING = 'playing'
    BRAKING = 'braking'
    DONE = 'done'
    ABORTED = 'aborted'


@dataclass(frozen=True)
class PlayerSettings:
    """
    How a trajectory is played.

    Attributes
    ----------
    speed_scale : float
        Share of the trajectory's speed, above 0 up to 1.
    approach_speed, approach_acceleration : float
        Largest values on the way to the start [rad/s | m/s], [rad/s^2 | m/s^2].
    approach_limit : float
        Largest distance of a joint from the start [rad | m].
    tolerance : float
        Largest distance of a joint from the motion [rad | m].
    state_timeout : float
        Age of joint states beyond which the motion is ended [s].
    braking_acceleration : float
        Largest one when the motion is ended [rad/s^2 | m/s^2]; 0 for that of the motion and a
        fifth more, `approach_acceleration` at least.

    Raises
    ------
    ConfigurationError
        If a value is out of its range.

    """

    speed_scale: float = 1.0
    approach_speed: float = 0.3
    approach_acceleration: float = 0.5
    approach_limit: float = 0.5
    tolerance: float = 0.2
    state_timeout: float = 0.2
    braking_acceleration: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.speed_scale <= 1.0:
            raise ConfigurationError(
                f'speed_scale is {self.speed_scale:g}, expected above 0 up to 1'
            )
        for key in ('approach_speed', 'approach_acceleration', 'approach_limit', 'tolerance'):
            if not getattr(self, key) > 0.0:
                raise ConfigurationError(f'{key} is {getattr(self, key):g}, expected > 0')


class TrajectoryPlayer:
    """
    Make the motions that are handed to the controller, and watch them.

    Parameters
    ----------
    trajectory : JointTrajectory
        From rest to rest.
    settings : PlayerSettings

    Attributes
    ----------
    state : PlayerState
    reason : str
        Why the motion was ended; empty if it was not.
    error : float
        Largest distance of a joint from the motion so far [rad | m].

    Raises
    ------
    TrajectoryError
        If the trajectory does not start and end at rest.

    """

    def __init__(self, trajectory: JointTrajectory, settings: PlayerSettings) -> None:
        if trajectory.velocities[[0, -1]].any() or len(trajectory.times) < 2:
            raise TrajectoryError('a trajectory that is played must start and end at rest')
        self.settings = settings
        self.joint_names = trajectory.joint_names
        self.state, self.reason, self.error = PlayerState.IDLE, '', 0.0
        self._scaled = _scaled(trajectory, settings.speed_scale)
        self._motion: JointTrajectory | None = None
        self._begin = 0.0

    @property
    def is_moving(self) -> bool:
        """Whether a motion is under way."""
        return self.state in (PlayerState.PLAYING, PlayerState.BRAKING)

    @property
    def duration(self) -> float:
        """Return the duration of the motion that was handed over last [s]."""
        return 0.0 if self._motion is None else self._motion.end

    def start(self, begin: float, q: Vector, v: Vector, age: float) -> JointTrajectory:
        """
        Return the motion from where the arm is.

        Parameters
        ----------
        begin : float
            When the controller begins with it [s].
        q, v : ndarray, shape (n,)
            Measured state, in the order of the trajectory's joints; NaN where it is not known.
        age : float
            Of that state [s].

        Raises
        ------
        ArmingRefusedError
            If a motion is under way, states are missing or old, or the arm moves or is too far
            from the start.

        """
        if self.is_moving:
            raise ArmingRefusedError(f'the arm is {self.state.value} already; abort first')
        self._require_ready(q, v, age)
        self._motion = self._with_approach(q)
        self._begin, self.reason, self.error = begin, '', 0.0
        self.state = PlayerState.PLAYING
        return self._motion

    def _require_ready(self, q: Vector, v: Vector, age: float) -> None:
        settings = self.settings
        unknown = [name for name, x in zip(self.joint_names, q) if not np.isfinite(x)]
        if unknown:
            raise ArmingRefusedError(f'no joint states of {", ".join(unknown)} have come')
        if not age <= settings.state_timeout:
            raise ArmingRefusedError(
                f'the newest joint state is {age:.3g} s old, expected {settings.state_timeout:g} '
                's at most'
            )
        for name, speed in zip(self.joint_names, v):
            if np.isfinite(speed) and abs(speed) > AT_REST:
                raise ArmingRefusedError(
                    f"joint '{name}' moves at {speed:.3g}, expected {AT_REST:g} at most"
                )
        target = self._scaled.positions[0]
        way = np.abs(q - target)
        j = int(np.argmax(way))  # so that a limit that is raised for it does for all
        if way[j] > settings.approach_limit:
            raise ArmingRefusedError(
                f"joint '{self.joint_names[j]}' is at {q[j]:.4g}, {way[j]:.3g} from the start "
                f'{target[j]:.4g}; approach_limit is {settings.approach_limit:g}: bring it nearer'
            )

    def _with_approach(self, q: Vector) -> JointTrajectory:
        """Return the way to the start, the pause, and the trajectory after it."""
        way = float(np.abs(q - self._scaled.positions[0]).max())
        duration = max(
            _SHORTEST_APPROACH,
            _PEAK_SPEED * way / self.settings.approach_speed,
            sqrt(_PEAK_ACCELERATION * way / self.settings.approach_acceleration),
        )
        scaled = self._scaled
        shift = duration + PAUSE - scaled.start
        zero = np.zeros((2, len(q)))
        return JointTrajectory(
            self.joint_names,
            np.concatenate(([0.0, duration], scaled.times + shift)),
            np.vstack((q, scaled.positions[:1], scaled.positions)),
            np.vstack((zero, scaled.velocities)),
            np.vstack((zero, scaled.accelerations)),
        )

    def reference(self, now: float) -> tuple[Vector, Vector, Vector] | None:
        """Return position, velocity and acceleration of the motion; None without one."""
        return None if self._motion is None else self._motion.sample(now - self._begin)

    def watch(self, now: float, q: Vector, measured_at: float, age: float) -> str:
        """
        Look at the arm; return why the motion has to be ended, or an empty text.

        Parameters
        ----------
        now : float
            Present time [s].
        q : ndarray, shape (n,)
            Newest positions.
        measured_at : float
            When they were measured [s].
        age : float
            Time since they came [s].

        """
        if not self.is_moving or self._motion is None:
            return ''
        if now >= self._begin + self._motion.end:
            braked = self.state is PlayerState.BRAKING
            self.state = PlayerState.ABORTED if braked else PlayerState.DONE
            return ''
        if self.state is PlayerState.BRAKING:
            return ''
        if age > self.settings.state_timeout:
            return f'no joint states for {age:.3g} s'
        if measured_at < self._begin:
            return ''
        away = np.abs(q - self._motion.sample(measured_at - self._begin)[0])
        self.error = max(self.error, float(away.max()))
        worst = int(away.argmax())
        if not away[worst] <= self.settings.tolerance:
            return (
                f"joint '{self.joint_names[worst]}' is {away[worst]:.3g} away from the motion, "
                f'tolerance is {self.settings.tolerance:g}'
            )
        return ''

    def abort(self, begin: float, reason: str) -> JointTrajectory | None:
        """
        Return the motion that brings the arm to rest; None if nothing moves.

        Parameters
        ----------
        begin : float
            When the controller begins with it [s]; until then it follows the present one.
        reason : str
            Why.

        """
        if self.state is not PlayerState.PLAYING or self._motion is None:
            return None
        peak = np.abs(self._motion.accelerations).max(axis=0)
        limit = np.maximum(_OWN_SHARE * peak, 2.0 * self.settings.approach_acceleration)
        if self.settings.braking_acceleration > 0.0:
            limit = np.maximum(peak, self.settings.braking_acceleration)
        self._motion = braking_trajectory(self._motion, max(0.0, begin - self._begin), limit)
        self._begin, self.reason, self.state = begin, reason, PlayerState.BRAKING
        return self._motion

    def report(self) -> dict[str, Any]:
        """Return what a diagnostic shows."""
        return {'state': self.state.value, 'largest error': round(self.error, 6)}


def _scaled(trajectory: JointTrajectory, scale: float) -> JointTrajectory:
    """Return the trajectory at a share of its speed."""
    return JointTrajectory(
        trajectory.joint_names,
        trajectory.times / scale,
        trajectory.positions,
        trajectory.velocities * scale,
        trajectory.accelerations * scale**2,
    )

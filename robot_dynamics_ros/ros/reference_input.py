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
References as they arrive: short ones at once, long ones prepared beside the control loop.

A message of thousands of points takes tenths of a second to read, to spline and to check. In the
callback that would stop the commands. So a long one is prepared in another thread, and begins only
when that is surely done, if its stamp leaves the choice.

"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
import sys

from robot_dynamics_ros.core.control.reference_follower import ReferenceFollower
from robot_dynamics_ros.core.exceptions import RobotDynamicsError, TrajectoryError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory as Spline
from robot_dynamics_ros.ros.conversions import TrajectoryPoints
from robot_dynamics_ros.ros.trajectory_reader import read_trajectory

LARGEST_MESSAGE = 32 * 2**20
"""Size beyond which a message is refused unread [bytes]: 10 000 points of 6 joints take 2 MB."""

SHORT_MESSAGE = 8 * 2**10
"""Size up to which a message is handled at once [bytes]: about 40 points of 6 joints."""

_SECONDS_PER_BYTE = 5e-7
"""What preparing takes on a slow machine."""

_LONGEST_REASON = 400

_SWITCH_INTERVAL = 5e-4
"""Longest time for which the thread that prepares keeps the loop from running [s]."""


class ReferenceInput:
    """
    Hand serialized references to a follower.

    Parameters
    ----------
    follower : ReferenceFollower
    present : callable
        Returns the present time in the time of the stamps [s].

    Attributes
    ----------
    accepted, rejected : int
        Number of references.
    rejection : str
        Why the last one was rejected; empty if it was not.

    """

    def __init__(self, follower: ReferenceFollower, present: Callable[[], float]) -> None:
        self.accepted = self.rejected = 0
        self.rejection = ''
        self._follower = follower
        self._present = present
        self._pool: ThreadPoolExecutor | None = None
        self._prepared: Future[tuple[Spline, float]] | None = None

    def take(self, data: bytes) -> str:
        """Take in a message; return why it is rejected, or an empty text."""
        try:
            if len(data) > LARGEST_MESSAGE:
                raise TrajectoryError(f'it has {len(data)} bytes, allowed are {LARGEST_MESSAGE}')
            if len(data) <= SHORT_MESSAGE:
                self._follow(data)
            elif self._prepared is not None:
                raise TrajectoryError('a long one before it is still being prepared')
            else:
                self._prepare(data)
        except RobotDynamicsError as error:
            return self.reject(' '.join(str(error).split()))
        return ''

    def _follow(self, data: bytes) -> None:
        points = _read(data)
        self._follower.follow(
            points.joint_names,
            points.stamp,
            points.times,
            points.positions,
            points.velocities,
            points.accelerations,
            self._present(),
        )
        self._accept()

    def _prepare(self, data: bytes) -> None:
        if self._pool is None:
            sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_INTERVAL))
            self._pool = ThreadPoolExecutor(1, 'reference')
        now = self._present()
        latest = now + 0.05 + _SECONDS_PER_BYTE * len(data)
        self._prepared = self._pool.submit(self._read, data, now, latest)

    def _read(self, data: bytes, now: float, latest: float) -> tuple[Spline, float]:
        """Read and prepare a trajectory, in the other thread; return it and its begin."""
        follower = self._follower
        points = _read(data)
        begin = follower.begin_of(points.stamp, now)
        if points.stamp == 0.0:
            begin = latest
        trajectory = follower.prepare(
            points.joint_names,
            points.times,
            points.positions,
            points.velocities,
            points.accelerations,
            follower.sample(begin),
        )
        return trajectory, begin

    def poll(self) -> str | None:
        """
        Hand over a trajectory that is ready.

        Returns
        -------
        rejection : str or None
            Why it is rejected, empty if it is not; None if nothing is ready.

        """
        if self._prepared is None or not self._prepared.done():
            return None
        prepared, self._prepared = self._prepared, None
        try:
            trajectory, begin = prepared.result()
            self._follower.take(trajectory, begin, self._present())
        except RobotDynamicsError as error:
            return self.reject(' '.join(str(error).split()))
        self._accept()
        return ''

    def drop(self) -> None:
        """Forget a trajectory that is being prepared."""
        self._prepared = None

    def close(self) -> None:
        """End the other thread."""
        self.drop()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _accept(self) -> None:
        self.accepted += 1
        self.rejection = ''

    def reject(self, reason: str) -> str:
        """Count a rejection, and return its reason."""
        self.rejected += 1
        self.rejection = reason[:_LONGEST_REASON]
        return self.rejection


def _read(data: bytes) -> TrajectoryPoints:
    try:
        return read_trajectory(data)
    except ValueError as error:
        raise TrajectoryError(f'these bytes are no JointTrajectory: {error}') from error

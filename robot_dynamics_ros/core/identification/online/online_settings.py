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

"""What a user chooses of the estimation while the robot moves."""

from __future__ import annotations

from dataclasses import dataclass

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.online.excitation_gate import SLOWEST
from robot_dynamics_ros.core.identification.online.friction_tracker import MEMORY
from robot_dynamics_ros.core.identification.online.stribeck_columns import stribeck_velocities


@dataclass(frozen=True)
class OnlineSettings:
    """
    Choices of the user.

    Attributes
    ----------
    cutoff : float
        Of the rows [Hz].
    motion_cutoff : float or None
        Of the filter before [Hz]; None for four times the cutoff.
    effort_delay : float
        Efforts are stamped so much too late [s].
    payload_frame : str or None
        Link or joint frame that would hold a payload.
    slowest : float
        Slower joints are at rest [rad/s | m/s].
    friction_memory, base_memory : float
        Seconds of motion after which rows count for a third [s].
    patience : float
        How long rows wait before they are learnt from [s].
    track_stribeck : bool
        Whether the level at rest and the velocity over which it falls are tracked as well.

    """

    cutoff: float = 5.0
    motion_cutoff: float | None = None
    effort_delay: float = 0.0
    payload_frame: str | None = None
    slowest: float = SLOWEST
    friction_memory: float = MEMORY
    base_memory: float = 1800.0
    patience: float = 0.5
    track_stribeck: bool = False

    @property
    def stribeck_velocities(self) -> Vector | None:
        """Return the velocities that the tracking of the static level tries; None without it."""
        return stribeck_velocities(self.slowest or SLOWEST) if self.track_stribeck else None

    @property
    def of_rows(self) -> dict[str, float | str | None]:
        """Return what decides on the rows: a saved state fits only the same."""
        keys = ['cutoff', 'motion_cutoff', 'effort_delay', 'payload_frame']
        if self.track_stribeck:
            keys += ['track_stribeck', 'slowest']
        return {key: getattr(self, key) for key in keys}

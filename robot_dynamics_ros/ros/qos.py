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
Quality of service, one profile per kind of topic.

A reliable subscriber does not hear a best-effort publisher, and a volatile publisher does not
reach a transient-local subscriber. So states are heard best effort and sent reliably, commands are
reliable at both ends, and what late joiners need is transient local.

"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _profile(depth: int, *, reliable: bool = True, transient_local: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=(
            DurabilityPolicy.TRANSIENT_LOCAL if transient_local else DurabilityPolicy.VOLATILE
        ),
    )


STATE_IN = _profile(1, reliable=False)
"""Joint states heard: the newest one, from reliable and best-effort publishers alike."""

STATE_OUT = _profile(1)
"""Joint states sent by the simulation."""

COMMAND_IN = _profile(1)
"""Commands heard by the simulation: the newest one."""

ECHO_IN = _profile(10)
"""Commands heard by those who command: so many that one bad message hides no good one."""

COMMAND_OUT = _profile(1)
"""Commands sent: reliable, because the subscribers of controllers are, and never an old one."""

TORQUES = _profile(10)
"""What was commanded, for logs and plots."""

REFERENCE = _profile(10)
"""References and trajectories: none may be lost."""

LATCHED = _profile(1, transient_local=True)
"""What late joiners need: robot description, payload."""

DIAGNOSTICS = _profile(10)
"""Diagnostics."""

CLOCK = _profile(1)
"""Simulated time sent: reliable, so that subscribers of both kinds hear it."""

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

"""What the diagnostics say about torques and joint states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report

_HARMLESS = ('accepted', 'time_reset', 'zero_stamp_replaced', 'velocity_replaced')


def torque_report(guard: TorqueGuard, counts: Changes, is_active: bool) -> Report:
    """
    Report the state of a guard and the limits hit since the last report.

    Parameters
    ----------
    guard : TorqueGuard
        The guard.
    counts : Changes
        Remembers the counters of the last report.
    is_active : bool
        Whether the node is active, so that a guard at rest is worth a warning.

    """
    names = guard.settings.joint_names
    grown = counts.take(
        {
            **_by_joint('at effort limit', names, guard.saturation_counts),
            **_by_joint('at effort rate limit', names, guard.rate_limit_counts),
        }
    )
    values: dict[str, Any] = {'state': guard.state.value, **grown}
    for name, tau in zip(names, guard.tau.tolist()):
        values[f'effort {name} [N m | N]'] = tau
    if guard.state is GuardState.FAULT or guard.reason:
        return Report(Level.ERROR, f'{guard.state.value}: {guard.reason}', values)
    held = [
        key.removeprefix('at effort limit ') for key in grown if key.startswith('at effort limit')
    ]
    if held:
        return Report(Level.WARN, f'cannot hold {", ".join(held)}: at the effort limit', values)
    if is_active and guard.state is GuardState.READY:
        return Report(Level.WARN, 'active, but commands no torque', values)
    return Report(Level.OK, guard.state.value, values)


def _by_joint(what: str, names: Sequence[str], counts: Any) -> dict[str, int]:
    return {f'{what} {name}': int(count) for name, count in zip(names, counts)}


def state_report(
    buffer: JointStateBuffer,
    counts: Changes,
    silent: Sequence[str],
    effort: MeasuredEffort | None = None,
) -> Report:
    """
    Report the joint states heard and rejected since the last report.

    Parameters
    ----------
    buffer : JointStateBuffer
        The states.
    counts : Changes
        Remembers the counters of the last report.
    silent : sequence of str
        Joints whose state is missing or too old.
    effort : MeasuredEffort, optional
        What the measured efforts mean, if that is stated.

    """
    grown = counts.take(buffer.counters)
    dropped = {key: count for key, count in grown.items() if key not in _HARMLESS}
    values: dict[str, Any] = {f'messages {key}': count for key, count in grown.items()}
    values['velocity known'] = buffer.has_velocity
    if effort is not None:
        values['effort means'] = f'{effort.semantics.value} [{effort.unit}]'
    if buffer.ignored_names:
        values['joints ignored'] = buffer.ignored_names
    if silent:
        return Report(Level.ERROR, f'no fresh state of {", ".join(silent)}', values)
    if dropped:
        text = ', '.join(f'{count} {key}' for key, count in dropped.items())
        return Report(Level.WARN, f'messages dropped: {text}', values)
    return Report(Level.OK, f'{grown.get("accepted", 0)} messages', values)

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

"""Faults and warnings about a log in sentences, with the option that helps."""

from __future__ import annotations

from collections.abc import Sequence
import math
import statistics

from robot_dynamics_ros.core.log_health.channel_health import ChannelHealth
from robot_dynamics_ros.core.log_health.effort_meaning import WAY_OUT
from robot_dynamics_ros.core.log_health.effort_verdict import CANNOT_TELL, JointVerdict
from robot_dynamics_ros.core.log_health.mounting import Mounting
from robot_dynamics_ros.core.log_health.time_health import TimeHealth
from robot_dynamics_ros.core.log_health.torque_match import Delay
from robot_dynamics_ros.core.log_health.velocity_check import VelocityCheck
from robot_dynamics_ros.core.model.robot_model import Limits

LIMIT_MARGIN = 0.05
"""Positions may be beyond a limit by this much [rad | m]."""


def channel_faults(time: TimeHealth, joints: Sequence[ChannelHealth]) -> tuple[str, ...]:
    """Return why nothing can be identified, whatever the model; one sentence each."""
    if time.samples < 2:
        return (f'{time.samples} samples: there is nothing to identify from',)
    if all(joint.effort_state == 'missing' for joint in joints):
        return ('the log has no effort: record a topic that has it, or add one with --topic',)
    if not any(joint.moves for joint in joints):
        return ('no joint moves: only a motion that excites the robot identifies it',)
    if not any(joint.effort_state in ('alive', 'frozen') for joint in joints):
        return ('no effort ever changes: the driver does not measure it',)
    return ()


def channel_warnings(joints: Sequence[ChannelHealth]) -> tuple[str, ...]:
    """Return what else should be known of the joints, one sentence each."""
    texts: list[str] = []
    if still := [joint.joint for joint in joints if not joint.moves]:
        texts.append(f'{", ".join(still)} stand still')
    for state, text in (
        ('missing', 'have no effort'),
        ('zero', 'have an effort that is always 0'),
        ('constant', 'have an effort that never changes'),
    ):
        if names := [joint.joint for joint in joints if joint.effort_state == state]:
            texts.append(f'{", ".join(names)} {text}')
    texts += [
        f'the effort of {joint.joint} stands still for {joint.frozen_time:.3g} s while it moves'
        for joint in joints
        if joint.effort_state == 'frozen'
    ]
    for field in ('position', 'effort'):
        counts = {joint.joint: getattr(joint, f'{field}_spikes') for joint in joints}
        if spiked := [f'{name} {count}' for name, count in counts.items() if count]:
            texts.append(
                f'{field} samples that stand alone (left out of the comparison): '
                f'{", ".join(spiked)}'
            )
    return tuple(texts)


def limit_warnings(joints: Sequence[ChannelHealth], limits: Limits) -> tuple[str, ...]:
    """Return which positions the model does not allow; joints in the order of the model."""
    outside, degrees = [], []
    for index, joint in enumerate(joints):
        lower, upper = limits.lower[index] - LIMIT_MARGIN, limits.upper[index] + LIMIT_MARGIN
        if joint.lowest < lower or joint.highest > upper:
            outside.append(joint.joint)
            as_degrees = math.radians(joint.lowest), math.radians(joint.highest)
            inside = lower <= as_degrees[0] and as_degrees[1] <= upper
            degrees.append(inside and max(-joint.lowest, joint.highest) > 4.0 * math.pi)
    if not outside:
        return ()
    text = f'positions of {", ".join(outside)} are outside the limits of the model'
    if all(degrees):
        text += '; in degrees they would be inside: --gears with ratio 57.29578 turns them to rad'
    return (text,)


def velocity_warnings(checks: Sequence[VelocityCheck], step: float) -> tuple[str, ...]:
    """Return what is wrong with recorded velocities; `step` is the usual step of the log [s]."""
    texts = [text for check in checks if (text := check.warning)]
    delays = [check.delay for check in checks if math.isfinite(check.delay)]
    delay = statistics.median(delays) if delays else 0.0
    if not texts and abs(delay) > max(0.002, 0.25 * step):
        word = 'late' if delay > 0.0 else 'early'
        texts.append(
            f'recorded velocities are {1e3 * abs(delay):.1f} ms {word} against the positions'
        )
    return tuple(texts)


def model_findings(
    verdicts: Sequence[JointVerdict], delay: Delay | None, mounting: Mounting | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return faults and warnings that follow from the comparison with a model."""
    faults: list[str] = []
    warnings: list[str] = []
    better = None if mounting is None else mounting.better
    told = [verdict for verdict in verdicts if verdict.meaning != CANNOT_TELL]
    without = [verdict.match.joint for verdict in told if verdict.meaning == 'without gravity']
    if without and 2 * len(without) > len(told):
        other = '' if better is None else f' (unless gravity is along {better}: --gravity)'
        faults.append(
            f'the efforts of {", ".join(without)} lack gravity: they are gravity-compensated'
            f'{other}; {WAY_OUT}'
        )
        return tuple(faults), ()
    if without:
        warnings.append(f'the efforts of {", ".join(without)} seem to lack gravity')
    if better is not None:
        warnings.append(
            f'gravity along {better} of the base fits better than that of the model: --gravity'
        )
        told = []  # with gravity in a wrong direction gains say nothing
    if inverted := [v.match.joint for v in told if v.sign == 'inverted']:
        options = ' '.join(f'{name}=-1' for name in inverted)
        warnings.append(
            f'the efforts of {", ".join(inverted)} have the opposite sign of the model: '
            f'--effort-sign {options}'
        )
    if scaled := [v for v in told if v.gain is not None]:
        warnings.append(_scaled_text(scaled, most=2 * len(scaled) > len(told)))
    if delay is not None and abs(delay.value) > max(0.002, 3.0 * delay.sigma):
        word = 'late' if delay.value > 0.0 else 'early'
        warnings.append(
            f'efforts are {1e3 * abs(delay.value):.1f} ms {word} against the motion '
            f'(+-{1e3 * delay.sigma:.1f} ms): it would be taken for friction'
        )
    return tuple(faults), tuple(warnings)


def _scaled_text(scaled: Sequence[JointVerdict], *, most: bool) -> str:
    names = ', '.join(verdict.match.joint for verdict in scaled)
    if most:
        options = ' '.join(f'{v.match.joint}={v.gain:.3g}' for v in scaled)
        return (
            f'the efforts of {names} are no torques in N m but, it seems, currents; a first guess '
            f'is --effort current --effort-gain {options}'
        )
    factors = ', '.join(f'{v.match.joint} {1.0 / (v.gain or 1.0):.3g}' for v in scaled)
    return (
        f'efforts over model torques: {factors}; the masses of the model differ there (a tool or '
        'load that it lacks), or the unit does'
    )

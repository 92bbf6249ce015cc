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
Reading one joint: what its elements mean, and the remarks on them.

Each reader takes the joint as urdf-parser-py gives it and a list to which it adds what it noticed.

"""

from __future__ import annotations

from math import copysign, inf, isnan, nan
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.description import (
    Finding,
    Joint,
    JointLimits,
    JointType,
    Mimic,
)
from robot_dynamics_ros.core.model.finding_codes import finding, WARNING
from robot_dynamics_ros.core.model.urdf_elements import LARGEST_NUMBER
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy

_UNIT_TOLERANCE = 1e-6
"""Axes rounded to six digits pass without a remark; they are normalised all the same."""

_LIMITED = (JointType.REVOLUTE, JointType.PRISMATIC)
_SINGLE = (*_LIMITED, JointType.CONTINUOUS)
_UNITS = {JointType.PRISMATIC: ('m', 'm/s', 'N')}


def units_of(kind: JointType) -> tuple[str, str, str]:
    """Return the units of position, velocity and effort of a joint type."""
    return _UNITS.get(kind, ('rad', 'rad/s', 'N m'))


def read_joint(raw: Any, strict: bool, findings: list[Finding]) -> Joint:
    """
    Return the joint that an urdf-parser-py joint describes.

    Parameters
    ----------
    raw : urdf_parser_py.urdf.Joint
        With a valid type and finite numbers; nan stands for a missing effort or velocity limit.
    strict : bool
        Whether missing limits are errors.
    findings : list of Finding
        Takes what was noticed. After an error in it the joint is of no use.

    """
    kind = JointType(raw.type)
    damping, friction = _read_friction(raw, findings)
    origin = raw.origin
    xyz = (origin.xyz if origin else None) or (0.0, 0.0, 0.0)
    rpy = (origin.rpy if origin else None) or (0.0, 0.0, 0.0)
    _remark_safety_controller(raw, findings)
    return Joint(
        name=raw.name,
        type=kind,
        parent=raw.parent,
        child=raw.child,
        rotation=rotation_from_rpy(*rpy),
        translation=np.array(xyz),
        axis=_read_axis(raw, kind, findings),
        limits=_read_limits(raw, kind, strict, findings),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(raw, kind),
    )


def _read_axis(raw: Any, kind: JointType, findings: list[Finding]) -> Vector:
    default = np.array([1.0, 0.0, 0.0])
    if kind in (JointType.FIXED, JointType.FLOATING):
        return default
    subject = f"joint '{raw.name}'"
    if raw.axis is None:
        findings.append(finding('axis_missing', subject, 'no <axis>: 1 0 0 by definition'))
        return default
    axis = np.array(raw.axis, dtype=np.float64)
    scale = float(np.abs(axis).max())
    # Dividing by the largest entry first keeps tiny and huge axes from under- and overflowing.
    norm = scale * float(np.linalg.norm(axis / scale)) if scale > 0.0 else 0.0
    if norm == 0.0:
        message = 'the axis is 0 0 0, so the joint has no direction; give a unit vector'
        findings.append(finding('axis_zero', subject, message, 0.0))
        return default
    if abs(norm - 1.0) > _UNIT_TOLERANCE:
        message = f'the axis has length {norm:.6g} and is normalised'
        findings.append(finding('axis_not_unit', subject, message, norm))
    if norm == 1.0:  # what is exact stays exact
        return axis
    unit: Vector = axis / scale / np.linalg.norm(axis / scale)
    return unit


def _read_limits(raw: Any, kind: JointType, strict: bool, findings: list[Finding]) -> JointLimits:
    if kind not in _SINGLE:
        return JointLimits()
    subject, limit = f"joint '{raw.name}'", raw.limit
    lenient = None if strict else WARNING
    if limit is None:
        if kind is JointType.CONTINUOUS:
            message = 'no <limit>: the effort and velocity limits are not stated'
            findings.append(finding('limit_absent', subject, message))
        else:
            end = 'give one, or load it with strict=False' if strict else 'read as unlimited'
            message = f'a {kind.value} joint needs a <limit>; {end}'
            findings.append(finding('limit_missing', subject, message, severity=lenient))
        return JointLimits()
    _remark_unstated(raw, subject, lenient, kind, findings)
    lower, upper = -inf, inf
    if kind in _LIMITED:
        lower, upper = _read_range(raw, subject, findings)
    velocity = limit.velocity if _is_limit(limit.velocity) else nan
    effort = limit.effort if _is_limit(limit.effort) else nan
    return JointLimits(lower, upper, velocity, effort)


def _is_limit(value: float) -> bool:
    """Return whether an effort or velocity limits anything; 0, -1 and 1e308 mean "not stated"."""
    return 0.0 < value <= LARGEST_NUMBER


def _remark_unstated(
    raw: Any, subject: str, lenient: str | None, kind: JointType, findings: list[Finding]
) -> None:
    figures = {'effort': raw.limit.effort, 'velocity': raw.limit.velocity}
    missing = [name for name, value in figures.items() if isnan(value)]
    if missing:
        severity = WARNING if kind is JointType.CONTINUOUS else lenient
        message = f'<limit> states no {" and no ".join(missing)}; URDF requires both'
        findings.append(finding('limit_incomplete', subject, message, severity=severity))
    useless = {n: value for n, value in figures.items() if not (isnan(value) or _is_limit(value))}
    if useless:
        stated = ' and '.join(f'{name} {value:g}' for name, value in useless.items())
        message = (
            f"the limit of {stated} is read as 'not stated'; "
            'a node that commands the joint needs the limit as a parameter'
        )
        value = next(iter(useless.values()))
        findings.append(finding('limit_not_stated', subject, message, value))


def _read_range(raw: Any, subject: str, findings: list[Finding]) -> tuple[float, float]:
    lower = raw.limit.lower or 0.0
    upper = raw.limit.upper or 0.0
    if lower > upper:
        message = f'the lower limit {lower:g} is above the upper limit {upper:g}'
        findings.append(finding('limit_reversed', subject, message, lower - upper))
    if lower == upper:
        end = 'read as unlimited' if lower == 0.0 else 'the joint cannot move'
        message = f'the lower and the upper position limit are both {lower:g}: {end}'
        findings.append(finding('limit_range_empty', subject, message, lower))
        if lower == 0.0:
            return -inf, inf
    # Some files write the largest double for "none".
    return (
        lower if abs(lower) <= LARGEST_NUMBER else copysign(inf, lower),
        upper if abs(upper) <= LARGEST_NUMBER else copysign(inf, upper),
    )


def _read_friction(raw: Any, findings: list[Finding]) -> tuple[float, float]:
    """Return damping and friction; negative values would feed in energy and are left out."""
    if raw.dynamics is None or raw.type == JointType.FIXED.value:
        return 0.0, 0.0
    values = []
    for name in ('damping', 'friction'):
        value = getattr(raw.dynamics, name) or 0.0
        if value < 0.0:
            message = f'{name} is {value:g}, expected zero or more; 0 is used'
            findings.append(finding(f'{name}_negative', f"joint '{raw.name}'", message, value))
        values.append(max(value, 0.0))
    return values[0], values[1]


def _remark_safety_controller(raw: Any, findings: list[Finding]) -> None:
    if raw.safety_controller is not None and raw.safety_controller.k_velocity == 0.0:
        message = (
            'safety_controller k_velocity is 0, which allows no effort at all; it is not used'
        )
        subject = f"joint '{raw.name}'"
        findings.append(finding('safety_velocity_gain_zero', subject, message, 0.0))


def _read_mimic(raw: Any, kind: JointType) -> Mimic | None:
    if raw.mimic is None or kind is JointType.FIXED:
        return None
    multiplier = 1.0 if raw.mimic.multiplier is None else raw.mimic.multiplier
    return Mimic(raw.mimic.joint or '', multiplier, raw.mimic.offset or 0.0)

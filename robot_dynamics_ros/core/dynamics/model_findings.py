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
Remarks that only the dynamics of a model show: joints that move no inertia, too small limits.

A rule such as "a moving link without mass is an error" would be a false alarm: between axes that
are not parallel such a link is fine. What counts is whether forward dynamics has an answer.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import (
    aba,
    crba,
    generalized_gravity,
    random_configuration,
)
from robot_dynamics_ros.core.exceptions import SingularMassMatrixError
from robot_dynamics_ros.core.model.description import Finding, JointType
from robot_dynamics_ros.core.model.finding_codes import finding
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.model.urdf_joint import units_of

_PIVOT_TOLERANCE = 1e-10
"""Largest articulated inertia, relative to the composite one, that counts as none."""


def model_findings(model: RobotModel, worst: Vector | None = None) -> list[Finding]:
    """
    Return the remarks on the dynamics of a model.

    Parameters
    ----------
    model : RobotModel
        The robot.
    worst : ndarray, shape (nv,), optional
        Result of `worst_gravity`, if it is there already.

    """
    if model.nv == 0:
        return []
    worst = worst_gravity(model) if worst is None else worst
    return [*inertia_findings(model), *gravity_findings(model, worst)]


def inertia_findings(model: RobotModel, seed: int = 0) -> list[Finding]:
    """Return a remark for each degree of freedom in whose direction no inertia moves."""
    zero = np.zeros(model.nv)
    rng = np.random.default_rng(seed)
    for q in (neutral(model), *(random_configuration(model, rng) for _ in range(3))):
        try:
            aba(model, q, zero, zero)
        except SingularMassMatrixError as error:
            return _singular_joints(model, crba(model, q), error.joint)
    return []


def worst_gravity(model: RobotModel, samples: int = 400, seed: int = 0) -> Vector:
    """
    Return the largest magnitude of each gravity effort over sampled configurations.

    The neutral configuration is always among them. Half of the others are random inside the
    limits; half put each joint at a limit, at zero or at a right angle, where the extremes of
    most arms lie.

    Parameters
    ----------
    model : RobotModel
        The robot.
    samples : int
        Number of configurations; fewer for very long chains.
    seed : int
        Seed of the random choices.

    Returns
    -------
    worst : ndarray, shape (nv,)
        Efforts [N m | N].

    """
    rng = np.random.default_rng(seed)
    worst: Vector = np.abs(generalized_gravity(model, neutral(model)))
    for number in range(min(samples, 20_000 // max(model.nv, 1))):
        q = random_configuration(model, rng)
        if number % 2:
            _move_to_special_positions(model, q, rng)
        np.maximum(worst, np.abs(generalized_gravity(model, q)), out=worst)
    return worst


def _move_to_special_positions(model: RobotModel, q: Vector, rng: np.random.Generator) -> None:
    for joint in model.joints:
        if joint.mimic is not None or joint.type in (JointType.FLOATING, JointType.PLANAR):
            continue
        lower, upper = model.limits.lower[joint.v_index], model.limits.upper[joint.v_index]
        special = (lower, upper, 0.0, 0.5 * np.pi, -0.5 * np.pi)
        value = special[rng.integers(len(special))]
        if np.isfinite(value) and lower <= value <= upper:
            q[joint.q_index] = value


def gravity_findings(model: RobotModel, worst: Vector) -> list[Finding]:
    """Return a remark for each joint whose effort limit is below what holds the robot."""
    found = []
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        need, limit = float(worst[joint.v_index]), float(model.limits.effort[joint.v_index])
        if need > limit:  # false for nan, which is "not stated"
            unit = units_of(joint.type)[2]
            message = (
                f'gravity needs up to {need:.4g} {unit}, the effort limit is {limit:.4g} {unit}'
            )
            found.append(finding('gravity_exceeds_effort', f"joint '{joint.name}'", message, need))
    return found


def _singular_joints(model: RobotModel, mass_matrix: Matrix, reported: str) -> list[Finding]:
    """Eliminate from tips to base, as ABA does; a pivot is the inertia that one joint moves."""
    owners = [''] * model.nv
    for joint in model.joints:
        if joint.mimic is None:
            width = {JointType.FLOATING: 6, JointType.PLANAR: 3}.get(joint.type, 1)
            owners[joint.v_index : joint.v_index + width] = [joint.name] * width
    work = mass_matrix.copy()
    names: dict[str, float] = {}
    for i in range(model.nv - 1, -1, -1):
        pivot, whole = work[i, i], abs(mass_matrix[i, i])
        if pivot <= _PIVOT_TOLERANCE * whole:
            names[owners[i]] = float(pivot)
        if pivot != 0.0 and abs(pivot) > _PIVOT_TOLERANCE * whole:
            work[:i, :i] -= np.outer(work[:i, i], work[i, :i]) / pivot
    if not names:  # ABA saw a smaller pivot than this elimination does
        names[reported] = 0.0
    found = []
    for name, pivot in names.items():
        if pivot < -_PIVOT_TOLERANCE * float(np.abs(mass_matrix).max()):
            message = f'it moves the negative inertia {pivot:.4g}: forward dynamics is refused'
            found.append(finding('mass_matrix_indefinite', f"joint '{name}'", message, pivot))
        else:
            message = (
                'it moves no inertia: forward dynamics is refused unless it gets an armature; '
                'inverse dynamics works'
            )
            found.append(finding('moves_no_inertia', f"joint '{name}'", message, 0.0))
    return found

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

r"""
Tracked friction in the terms of a friction file, with variances.

A joint's estimates are parameters of its columns: viscous and Coulomb friction, for both
directions or for each, and an offset. The terms of a command are sums of them,

.. math:: b_\pm, \qquad F_\pm = F_c \pm o

so their variances are :math:`c^T P c` with the same coefficients.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.friction.friction_model import TERMS
from robot_dynamics_ros.core.identification.identified_model import joint_friction
from robot_dynamics_ros.core.identification.online.friction_tracker import FrictionTracker

STATIC_TERMS = ('static_ratio', 'stribeck_velocity')
"""How the level rises at slow speed, by the names of friction files."""


class FrictionTerms(NamedTuple):
    """
    All terms of all joints.

    Attributes
    ----------
    names : tuple of str
        ``JOINT/TERM``, the four of a joint together.
    values, variances, start : ndarray, shape (4 n,)
        Estimates that take energy from the motion, their variances, and where they began
        [N m s/rad | N s/m, N m | N].

    """

    names: tuple[str, ...]
    values: Vector
    variances: Vector
    start: Vector


def friction_terms(tracker: FrictionTracker) -> FrictionTerms:
    """Return what a tracker knows, in terms of a friction file."""
    model = tracker.start.model
    coefficients = _coefficients(tracker)
    covariance = tracker.covariance
    variances = np.einsum('ik,kl,il->i', coefficients, covariance, coefficients)
    begun = coefficients @ tracker.start.base[tracker.columns]
    joints = tracker.joint_friction
    values = [
        value
        for name in model.robot.v_names
        for value in (
            joints[name].viscous,
            joints[name].backward_viscous,
            joints[name].coulomb_positive,
            joints[name].coulomb_negative,
        )
    ]
    return FrictionTerms(
        tuple(f'{joint}/{term}' for joint in model.robot.v_names for term in TERMS),
        np.array(values),
        np.maximum(variances, 0.0),
        np.maximum(begun, 0.0),
    )


def static_terms(tracker: FrictionTracker) -> FrictionTerms:
    """
    Return what is known of slow motion, for the joints that have shown it.

    Names are those of `STATIC_TERMS`, two of a joint together [1, rad/s | m/s].

    """
    model, start = tracker.start.model, tracker.start
    begun = dict(zip(model.base.base_names, start.base.tolist()))
    names, entries = [], []
    joints = tracker.joint_friction
    for name, width, static in zip(model.robot.v_names, model.velocities, tracker.static_friction):
        joint, first = joints[name], joint_friction(name, begun, width, [])
        level = 0.5 * (joint.coulomb_positive + joint.coulomb_negative)
        if static is None or level <= 0.0:
            continue
        names += [f'{name}/{term}' for term in STATIC_TERMS]
        deviation = static.deviation / level
        entries += [
            (joint.static_ratio, deviation**2, first.static_ratio),
            (joint.stribeck_velocity, static.velocity_deviation**2, first.stribeck_velocity),
        ]
    values, variances, before = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    return FrictionTerms(tuple(names), values, variances, before)


def _coefficients(tracker: FrictionTracker) -> Matrix:
    """Return what each tracked parameter adds to each term, shape (4 nv, n)."""
    model = tracker.start.model
    coefficients = np.zeros((len(TERMS) * model.robot.nv, len(tracker.columns)))
    for k, column in enumerate(tracker.columns.tolist()):
        term = model.terms[model.base.independent[column] - model.n_inertial]
        first = len(TERMS) * term.weights[0][0] + (0 if term.kind == 'viscous' else 2)
        if term.kind == 'offset':
            coefficients[first, k], coefficients[first + 1, k] = 1.0, -1.0
        elif term.kind in ('viscous', 'coulomb'):
            coefficients[first, k] = float(term.side >= 0)
            coefficients[first + 1, k] = float(term.side <= 0)
    return coefficients

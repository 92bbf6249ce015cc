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

"""Of the friction terms of a model: which are a joint's own, how sure, and what is possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart


def columns_of_joints(start: OnlineStart, kinds: tuple[str, ...]) -> list[NDArray[np.intp]]:
    """Return the places of some terms of each joint alone among the base parameters."""
    model = start.model
    found: list[list[int]] = [[] for _ in range(model.robot.nv)]
    for place, column in enumerate(model.base.independent):
        if column < model.n_inertial:
            continue
        term = model.terms[column - model.n_inertial]
        if term.kind in kinds and len(term.weights) == 1:
            found[term.weights[0][0]].append(place)
    return [np.array(places, dtype=np.intp) for places in found]


def body_root(start: OnlineStart, friction: NDArray[np.intp]) -> Matrix:
    """Return a root of the covariance of all that is not tracked, zero for what is."""
    covariance = start.covariance.copy()
    covariance[friction] = 0.0
    covariance[:, friction] = 0.0
    sizes, axes = np.linalg.eigh(covariance)
    return np.ascontiguousarray(axes * np.sqrt(np.maximum(sizes, 0.0)))


def sizes(start: OnlineStart, columns: NDArray[np.intp], share: float) -> Vector:
    """Return a part of a joint's terms; of small ones half that of its Coulomb level."""
    model = start.model
    own = np.sqrt(np.diag(start.covariance)[columns])
    values = np.abs(start.base[columns])
    kinds = [model.terms[model.base.independent[k] - model.n_inertial].kind for k in columns]
    level = coulomb_level(start, columns)
    least = [0.0 if kind == 'viscous' else 0.5 * share * level for kind in kinds]
    return np.asarray(np.maximum(3.0 * own, np.maximum(share * values, least)))


def coulomb_level(start: OnlineStart, columns: NDArray[np.intp]) -> float:
    """Return the largest Coulomb level of a joint at the start; 0 without one."""
    model = start.model
    kinds = [model.terms[model.base.independent[k] - model.n_inertial].kind for k in columns]
    levels = [abs(v) for v, kind in zip(start.base[columns].tolist(), kinds) if kind == 'coulomb']
    return max(levels, default=0.0)


def conditioned(values: Vector, covariance: Matrix, bounded: NDArray[np.bool_]) -> Vector:
    """Return the estimate with what is negative and must not be at zero, the others as then."""
    zero = np.zeros(len(values), dtype=bool)
    found: Vector = np.array(values)
    for _ in range(len(values)):
        negative = bounded & ~zero & (found < 0.0)
        if not negative.any():
            break
        zero |= negative
        gain = covariance[np.ix_(~zero, zero)] @ np.linalg.inv(covariance[np.ix_(zero, zero)])
        found[~zero] = values[~zero] - gain @ values[zero]
        found[zero] = 0.0
    return found

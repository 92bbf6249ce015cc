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

"""Coriolis, centrifugal and gravity efforts together: inverse dynamics with zero acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.rnea import rnea, rnea_batch
from robot_dynamics_ros.core.dynamics.samples import as_samples
from robot_dynamics_ros.core.model.robot_model import RobotModel


def nonlinear_effects(model: RobotModel, q: Any, v: Any) -> Vector:
    """
    Compute ``h(q, v) = C(q, v) v + g(q)``.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].

    Returns
    -------
    h : ndarray, shape (nv,)
        Efforts that keep the velocity as it is [N m | N].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    v = as_vector('v', v, model.nv)
    return rnea(model, q, v, np.zeros(model.nv))


def nonlinear_effects_batch(
    model: RobotModel, q: Any, v: Any, out: Matrix | None = None
) -> Matrix:
    """
    Compute ``C(q, v) v + g(q)`` of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v : array_like, shape (n_samples, nv)
        Joint velocities [rad/s | m/s].
    out : ndarray, shape (n_samples, nv), optional
        Where the result goes.

    Returns
    -------
    h : ndarray, shape (n_samples, nv)
        Efforts [N m | N].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    v = as_samples('v', v, model.nv)
    return rnea_batch(model, q, v, np.zeros_like(v), out)

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
Drive gains from a known payload: what one unit of the measured signal is in newton metres.

A driver may report currents, or torques by gains that are wrong. From the motion of the robot
alone every gain could be another, with masses and friction to match. A payload whose parameters
are known breaks the tie: with the measured signal :math:`i_j` of each joint, without and with the
payload,

.. math:: Y_0 \beta - K i_0 = 0, \qquad Y_1 \beta - K i_1 = -Y_L \pi_L

is linear in the base parameters :math:`\beta` and the gains :math:`K`. Noise of the signal, and
friction that the model does not have, are errors in its column and make the gains too small, by
some percent where the payload is a small part of the signal: take the heaviest payload, and the
deviations for what noise does, not for this.

References
----------
.. [1] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", ASME J. Dyn. Sys. Meas. Control 136(5), 2014.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.covariance import base_covariance
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.payload_columns import LoadedModel
from robot_dynamics_ros.core.identification.possible_bodies import SIZE
from robot_dynamics_ros.core.identification.regression_rows import (
    regression_rows,
    RegressionRows,
)
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.payload import Payload

LEAST_RELATIVE_EFFECT = 1e-3
"""Of the payload on a joint, relative to its largest: with less, its gain is not shown."""


@dataclass(frozen=True, eq=False)
class DriveGains:
    """
    Gains of all drives.

    Attributes
    ----------
    gains : ndarray, shape (nv,)
        Newton metres (newton) at the joint per unit of the measured signal; NaN for a joint that
        the payload has no effect on.
    deviation : ndarray, shape (nv,)
        Standard deviations, under correlated errors.
    base : ndarray, shape (rank,)
        Base parameters that go with them.

    """

    gains: Vector
    deviation: Vector
    base: Vector


def drive_gains(
    model: IdentificationModel,
    unloaded: Sequence[JointSamples],
    loaded: Sequence[JointSamples],
    payload: Payload,
    cutoff: float | None,
) -> DriveGains:
    """
    Identify the gains of all drives from motions without and with a known payload.

    Parameters
    ----------
    model : IdentificationModel
        The robot without payload; nothing of it but its structure is used.
    unloaded, loaded : sequence of JointSamples
        The motions; their efforts are the signals, in any unit.
    payload : Payload
        What is carried in the loaded motions.
    cutoff : float or None
        Of the filter of both sides [Hz].

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame of the payload does not move, the payload has no effect, or the cutoff does
        not suit the samples.
    DimensionError, NonFiniteError
        If the samples do not suit the robot.

    """
    bare, full = LoadedModel(model, payload.frame, False), LoadedModel(model, payload.frame)
    rank, nv = model.base.rank, model.robot.nv
    known = _parameters_of(payload)
    rows = [
        _with_gains(block, rank, known)
        for loads, motions in ((bare, unloaded), (full, loaded))
        for part in motions
        for block in regression_rows(loads, part, cutoff)
    ]
    effect = np.sqrt(sum(np.sum(block.tau**2, axis=0) for block in rows))
    if not effect.any():
        raise ConfigurationError('the payload has no effect on any joint: it shows no gain')
    columns = tuple(
        np.append(own, rank + j).astype(np.intp) for j, own in enumerate(model.columns_of_joint)
    )
    fit = weighted_least_squares(accumulated(rows, columns, rank + nv))
    deviation = base_covariance(rows, fit).deviation[rank:]
    hidden: NDArray[np.bool_] = effect < LEAST_RELATIVE_EFFECT * effect.max()
    # A joint that the payload does not load is fitted exactly by zeros, its gain among them.
    return DriveGains(
        gains=frozen(np.where(hidden, np.nan, fit.base[rank:])),
        deviation=frozen(np.where(hidden, np.nan, deviation)),
        base=frozen(fit.base[:rank]),
    )


def _with_gains(block: RegressionRows, rank: int, known: Vector) -> RegressionRows:
    """Return rows whose unknowns are base parameters and gains, and whose right side is known."""
    count, nv = block.tau.shape
    regressor: Matrix = np.zeros((count, nv, rank + nv))
    regressor[:, :, :rank] = block.regressor[:, :, :rank]
    for j in range(nv):
        regressor[:, j, rank + j] = -block.tau[:, j]
    right = -(block.regressor[:, :, rank : rank + SIZE] @ known)
    return RegressionRows(block.stamps, regressor, right, block.use)


def _parameters_of(payload: Payload) -> Vector:
    body = payload.spatial_inertia()
    r = body.rotational
    tensor = (r[0, 0], r[0, 1], r[1, 1], r[0, 2], r[1, 2], r[2, 2])
    return np.array([body.mass, *body.first_moment, *tensor])

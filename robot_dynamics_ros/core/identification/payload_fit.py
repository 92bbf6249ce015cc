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
What the robot carries: ten parameters of a payload from a motion with it.

A payload in a frame of body `i` adds :math:`X \pi_L` to the parameters of the body, so its
columns in the regressor are :math:`Y_L = Y_i X`. The arm must be known:

- from a second motion without the payload. Both are fitted together,

  .. math:: \begin{bmatrix} Y_0 & 0 \\ Y_1 & Y_{L} \end{bmatrix}
            \begin{bmatrix} \beta \\ \pi_L \end{bmatrix}
            = \begin{bmatrix} \tau_0 \\ \tau_1 \end{bmatrix}

  so that errors of the arm are part of the uncertainty; this is the difference of the two motions
  where they are the same;
- or from an identification before, whose efforts are subtracted.

A linear fit gives the uncertainties, a consistent fit a body that can exist: its prior is a ball
at the centre of mass.

References
----------
.. [1] J. Swevers, W. Verdonck, B. Naumer, S. Pieters, E. Biber, "An Experimental Robot Load
   Identification Method for Industrial Application", IJRR 21(8), 2002.
.. [2] C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of Inertial Parameters of Manipulator
   Loads and Links", IJRR 5(3), 1986.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics import joint_torque_regressor_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import ConsistentProblem, solved
from robot_dynamics_ros.core.identification.covariance import base_covariance
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.identified_model import inertial_of_parameters
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.possible_bodies import possible_prior, SIZE
from robot_dynamics_ros.core.identification.regression_rows import (
    regression_rows,
    RegressionRows,
)
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.spatial.inertia import SpatialInertia

GYRATION = 0.05
"""Radius of gyration of the ball that serves as prior [m]."""

LARGEST_CONDITION = 1e6
"""Beyond it, the motion does not show the payload."""


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """
    A robot's columns, followed by the ten of a payload.

    Attributes
    ----------
    arm : IdentificationModel
        The robot without payload.
    frame : str
        Link or joint frame that holds the payload.
    is_loaded : bool
        Whether it is there; its columns are zero if not.

    """

    arm: IdentificationModel
    frame: str
    is_loaded: bool = True

    @cached_property
    def columns_of_joint(self) -> tuple[NDArray[np.intp], ...]:
        """For each degree of freedom: the columns that can differ from zero in its row."""
        rank = self.arm.base.rank
        payload = np.arange(rank, rank + SIZE)
        return tuple(np.concatenate([own, payload]) for own in self.arm.columns_of_joint)

    def regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Return the columns, shape (n_samples, nv, rank + 10)."""
        own = self.arm.regressor(q, v, a)
        payload = np.zeros((len(q), self.arm.robot.nv, SIZE))
        if self.is_loaded:
            payload = payload_regressor(self.arm.robot, self.frame, q, v, a)
        return np.concatenate([own, payload], axis=2)


@dataclass(frozen=True, eq=False)
class PayloadFit:
    """
    A payload.

    Attributes
    ----------
    payload : Payload
        A body that can exist.
    parameters : ndarray, shape (10,)
        The same as ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` in its frame, inertia about
        the frame's origin.
    linear : ndarray, shape (10,)
        Those of the plain fit.
    deviation : ndarray, shape (10,)
        Standard deviations of the plain fit, under correlated errors.
    condition : float
        Condition number of the regression.
    spread : ndarray, shape (nv,)
        Standard deviation of the errors [N m | N].

    """

    payload: Payload
    parameters: Vector
    linear: Vector
    deviation: Vector
    condition: float
    spread: Vector


def payload_regressor(robot: RobotModel, frame: str, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """
    Compute the columns of a payload.

    Parameters
    ----------
    robot : RobotModel
        The robot.
    frame : str
        Link or joint frame that holds the payload.
    q, v, a : ndarray, shape (n_samples, nv)
        Joint positions, velocities and accelerations.

    Returns
    -------
    Y : ndarray, shape (n_samples, nv, 10)
        Efforts per parameter [N m | N].

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move.
    DimensionError, NonFiniteError
        If the samples do not suit the robot.

    """
    found = robot.frame(frame)
    if found.body < 0:
        raise ConfigurationError(f"frame '{frame}' does not move: a payload there is not felt")
    full = joint_torque_regressor_batch(robot, q, v, a)
    own = full[:, :, SIZE * found.body : SIZE * found.body + SIZE]
    columns: Matrix = own @ parameter_transform(found.rotation, found.translation)
    return columns


def parameter_transform(rotation: Matrix, translation: Vector) -> Matrix:
    """
    Return the matrix that takes ten parameters from one frame to another, shape (10, 10).

    Parameters
    ----------
    rotation : ndarray, shape (3, 3)
        Rotation of the frame that the parameters are given in, in the other.
    translation : ndarray, shape (3,)
        Its origin in the other [m].

    """
    columns = []
    for unit in np.eye(SIZE):
        xx, xy, yy, xz, yz, zz = unit[4:]
        rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = SpatialInertia(float(unit[0]), unit[1:4], rotational).moved(rotation, translation)
        r = body.rotational
        tensor = (r[0, 0], r[0, 1], r[1, 1], r[0, 2], r[1, 2], r[2, 2])
        columns.append(np.array([body.mass, *body.first_moment, *tensor]))
    return np.column_stack(columns)


def payload_from_two_motions(
    model: IdentificationModel,
    unloaded: Sequence[JointSamples],
    loaded: Sequence[JointSamples],
    frame: str,
    cutoff: float | None,
) -> PayloadFit:
    """
    Identify a payload from motions without and with it.

    Parameters
    ----------
    model : IdentificationModel
        The robot without payload; nothing of it but its structure is used.
    unloaded, loaded : sequence of JointSamples
        The motions.
    frame : str
        Link or joint frame that holds the payload.
    cutoff : float or None
        Of the filter of both sides [Hz].

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move, the motion does not show the payload, or the cutoff does not
        suit the samples.
    DimensionError, NonFiniteError
        If the samples do not suit the robot.

    """
    bare, full = LoadedModel(model, frame, False), LoadedModel(model, frame)
    rows = [block for part in unloaded for block in regression_rows(bare, part, cutoff)]
    rows += [block for part in loaded for block in regression_rows(full, part, cutoff)]
    rank = model.base.rank
    fit = weighted_least_squares(accumulated(rows, full.columns_of_joint, rank + SIZE))
    return _payload_fit(rows, fit, rank, frame)


def payload_of_known_arm(
    model: IdentificationModel,
    arm: Vector,
    loaded: Sequence[JointSamples],
    frame: str,
    cutoff: float | None,
) -> PayloadFit:
    """
    Identify a payload from one motion of a robot that is known.

    Parameters
    ----------
    model : IdentificationModel
        The robot without payload.
    arm : ndarray, shape (p,)
        All of its parameters; their errors are not part of the uncertainty.
    loaded : sequence of JointSamples
        Motions with the payload.
    frame : str
        Link or joint frame that holds it.
    cutoff : float or None
        Of the filter of both sides [Hz].

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move, the motion does not show the payload, or the cutoff does not
        suit the samples.
    DimensionError, NonFiniteError
        If the samples or parameters do not suit the robot.

    """
    base = model.base.to_base(as_finite('arm', arm, (len(model.names),)))
    rank = model.base.rank
    rows = []
    for part in loaded:
        for block in regression_rows(LoadedModel(model, frame), part, cutoff):
            rest = block.tau - block.regressor[:, :, :rank] @ base
            payload = np.ascontiguousarray(block.regressor[:, :, rank:])
            rows.append(RegressionRows(block.stamps, payload, rest, block.use))
    columns = [np.arange(SIZE)] * model.robot.nv
    fit = weighted_least_squares(accumulated(rows, columns, SIZE))
    return _payload_fit(rows, fit, 0, frame)


def _payload_fit(
    rows: Sequence[RegressionRows], fit: LinearFit, rank: int, frame: str
) -> PayloadFit:
    triangle, right = fit.factors.stacked(1.0 / fit.spread)
    own, wanted = triangle[rank:, rank:], right[rank:]  # all that is left with the arm fitted
    sizes = np.linalg.svd(own / np.maximum(np.linalg.norm(own, axis=0), 1e-300), compute_uv=False)
    if len(own) < SIZE or sizes[-1] * LARGEST_CONDITION < sizes[0]:
        raise ConfigurationError(
            'the motion does not show all ten parameters of the payload; move the last joints '
            'faster and in more directions'
        )
    linear = fit.base[rank:]
    problem = ConsistentProblem(
        triangle=own,
        right=wanted,
        prior=possible_prior(_ball(linear)),
        scales=np.zeros(0),
        lower=np.zeros(0),
        n_inertial=SIZE,
    )
    parameters = solved(problem, 1.0).parameters
    inertial = inertial_of_parameters(parameters)
    return PayloadFit(
        payload=Payload(inertial.mass, frame, inertial.com, inertial.inertia),
        parameters=frozen(parameters),
        linear=frozen(linear),
        deviation=frozen(base_covariance(rows, fit).deviation[rank:]),
        condition=float(sizes[0] / sizes[-1]),
        spread=fit.spread,
    )


def _ball(linear: Vector) -> Vector:
    """Return a ball with the mass and the centre of mass of a plain fit."""
    mass = max(float(linear[0]), 1e-3)
    center = linear[1:4] / mass
    reach = float(np.linalg.norm(center))
    center = center / max(1.0, reach)  # no further than a metre, whatever noise makes of it
    moment = 2.0 * mass * GYRATION**2
    inertia = moment * np.eye(3) + mass * (center @ center * np.eye(3) - np.outer(center, center))
    return np.array(
        [mass, *(mass * center), inertia[0, 0], inertia[0, 1], inertia[1, 1],
         inertia[0, 2], inertia[1, 2], inertia[2, 2]]
    )  # fmt: skip

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
Columns of a regression that tells a payload from the arm that carries it.

The efforts of an arm with a body :math:`\varphi` in its hand are

.. math:: \tau = Y_a(q, v, a)\,\beta + Y_i(q, v, a)\,T \varphi

with the ten columns :math:`Y_i` of the link that holds it, and the matrix :math:`T` that expresses
the body's parameters in that link's frame instead of the given one. In a run without it the
second term is zero, which is what tells :math:`\varphi` from the links' own parameters.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import joint_torque_regressor_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.possible_bodies import SIZE
from robot_dynamics_ros.core.model.robot_model import Frame, RobotModel
from robot_dynamics_ros.core.spatial.inertia import SpatialInertia


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """
    The columns of an arm, followed by the ten of a payload.

    Attributes
    ----------
    arm : IdentificationModel
        The arm without it.
    frame : str
        Link or joint frame that holds the payload, in which its parameters are expressed.
    is_loaded : bool
        Whether it is there; its columns are zero if not.
    chosen : tuple of int, or None
        Base parameters of the arm that have columns; all of them if None.
    changed : tuple of int
        Base parameters of the arm that are others with the payload: they have a second column,
        for the change, between those of the arm and of the payload.

    """

    arm: IdentificationModel
    frame: str
    is_loaded: bool = True
    chosen: tuple[int, ...] | None = None
    changed: tuple[int, ...] = ()

    @cached_property
    def kept(self) -> NDArray[np.intp]:
        """Return the base parameters of the arm that have columns."""
        every = range(self.arm.base.rank) if self.chosen is None else self.chosen
        return np.array(every, dtype=np.intp)

    @property
    def count(self) -> int:
        """Return the number of columns."""
        return len(self.kept) + len(self.changed) + SIZE

    @cached_property
    def columns_of_joint(self) -> tuple[NDArray[np.intp], ...]:
        """For each degree of freedom: the columns that can differ from zero in its row."""
        payload = self.count - SIZE + np.arange(SIZE)
        own = np.concatenate([self.kept, np.array(self.changed, dtype=np.intp)])
        return tuple(
            np.concatenate([np.flatnonzero(np.isin(own, columns)), payload]).astype(np.intp)
            for columns in self.arm.columns_of_joint
        )

    def regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """
        Return the columns of many samples, shape (n_samples, nv, count).

        Raises
        ------
        UnknownFrameError
            If the robot has no such frame.
        ConfigurationError
            If the frame does not move.
        DimensionError, NonFiniteError
            If the samples do not suit the robot.

        """
        columns = np.zeros((len(q), self.arm.robot.nv, self.count))
        count = len(self.kept)
        if count or self.changed:
            own = self.arm.regressor(q, v, a)
            columns[:, :, :count] = own[:, :, self.kept]
            if self.is_loaded:
                columns[:, :, count:-SIZE] = own[:, :, list(self.changed)]
        if self.is_loaded:
            columns[:, :, -SIZE:] = payload_regressor(self.arm.robot, self.frame, q, v, a)
        return columns


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
    held = moving_frame(robot, frame)
    full = joint_torque_regressor_batch(robot, q, v, a)
    own = full[:, :, SIZE * held.body : SIZE * held.body + SIZE]
    columns: Matrix = own @ parameter_transform(held.rotation, held.translation)
    return columns


def moving_frame(robot: RobotModel, frame: str) -> Frame:
    """
    Return a frame that can hold a payload.

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move.

    """
    found = robot.frame(frame)
    if found.body < 0:
        raise ConfigurationError(f"frame '{frame}' does not move: a payload there is not felt")
    return found


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
        inertia = SpatialInertia(float(unit[0]), unit[1:4], rotational_of(unit))
        columns.append(ten_parameters(inertia.moved(rotation, translation)))
    matrix: Matrix = np.array(columns).T
    return matrix


def rotational_of(parameters: Vector) -> Matrix:
    """Return the rotational inertia in ten parameters, shape (3, 3)."""
    xx, xy, yy, xz, yz, zz = parameters[4:]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def ten_parameters(inertia: SpatialInertia) -> Vector:
    """Return mass, first moment and rotational inertia, in the order of `dynamic_parameters`."""
    return np.array([inertia.mass, *inertia.first_moment, *six_of(inertia.rotational)])


def six_of(rotational: Matrix) -> list[float]:
    """Return ``[Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` of a tensor."""
    return [float(rotational[i, j]) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]

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
The wrench at a frame that explains the external torques of the joints.

With the Jacobian `J` of the frame, ``J^T f = tau_ext`` is solved for the wrench ``f = [f; n]``
that acts on the robot, in the sense of least squares. Moments are counted over a length `L`, so
that all singular values :math:`s_i` of the Jacobian are lengths (a slide counts as 1 m): with
:math:`J J^T = U\, \mathrm{diag}(s^2)\, U^T`,

.. math:: f = \sum_i u_i\, \frac{u_i^T J \tau_{ext}}{s_i^2 + \lambda_i}, \qquad
          \lambda_i = \max(s_{min}^2 - s_i^2,\, 0) .

What the joints feel with a lever of at least :math:`s_{min}` is found exactly; the rest is damped,
and fades to zero as the lever does. It is not observable there, which the estimate says: the
directions :math:`u_i` with :math:`s_i < s_{min}` are listed. An arm with fewer than six joints, or
in a singular pose, always has such directions.

External torques from an observer are old: each is passed through a filter of first order, with the
gain :math:`k_j`. Against the levers of now they would show a wrench that is wrong by what the
levers have changed meanwhile, several percent while the arm turns by 1 rad/s. So the levers are
passed through the same filters,

.. math:: \dot{\bar J}_j = k_j (J_j - \bar J_j) \quad\Rightarrow\quad
          \bar J^T f = \tau_{ext}

holds exactly for a wrench that is constant in the axes of the base, about the origin of the frame,
however fast the arm moves and from the first message on.

References
----------
.. [1] Y. Nakamura, H. Hanafusa, "Inverse kinematic solutions with singularity robustness for robot
   manipulator control", J. Dyn. Sys. Meas. Control 108(3), 1986.
.. [2] A. A. Maciejewski, C. A. Klein, "Numerical filtering for the operation of robotic
   manipulators through kinematically singular configurations", J. Robotic Systems 5(6), 1988.

"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics.kinematics import ReferenceFrame
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_kinematics import jacobian_kernel, O, R
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.symmetric_eigen import diagonalize
from robot_dynamics_ros.core.jit import entry_point, inner, kernel
from robot_dynamics_ros.core.model.robot_model import RobotModel

DEFAULT_LENGTH = 0.2
"""Length over which moments are counted [m]."""

DEFAULT_SMALLEST_LEVER = 0.05
"""Lever below which a direction is not observable [m]."""


@inner
def _frame_pose(frame: Vector, work: Matrix, pose: Matrix) -> None:
    """Write origin (row 0) and rotation (rows 1 to 3) of a frame in the world."""
    body = work[int(frame[0])]
    for r in range(3):
        pose[0, r] = body[O + r]
        for k in range(3):
            pose[0, r] += body[R + 3 * r + k] * frame[1 + k]
        for c in range(3):
            total = 0.0
            for k in range(3):
                total += body[R + 3 * r + k] * frame[4 + 3 * k + c]
            pose[1 + r, c] = total


@kernel
def lever_kernel(
    robot: Matrix,
    work: Matrix,
    frame: Vector,
    length: float,
    q: Vector,
    rest: Vector,
    keep: Vector,
    jacobian: Matrix,
    rate: Matrix,
    pose: Matrix,
    levers: Matrix,
) -> bool:
    """
    Move the filtered levers on to a pose, in world axes about the frame's origin.

    A part `keep` of what each joint had stays; pose and Jacobian of now are left, too. Nothing is
    changed by a position that is not finite.

    """
    finite: bool = jacobian_kernel(robot, work, int(frame[0]), q, rest, jacobian, rate)
    if not finite:
        return False
    _frame_pose(frame, work, pose)
    for j in range(q.size):
        # of the frame's origin instead of the world's, angular part over the length
        x = pose[0, 1] * jacobian[5, j] - pose[0, 2] * jacobian[4, j]
        y = pose[0, 2] * jacobian[3, j] - pose[0, 0] * jacobian[5, j]
        z = pose[0, 0] * jacobian[4, j] - pose[0, 1] * jacobian[3, j]
        jacobian[0, j] -= x
        jacobian[1, j] -= y
        jacobian[2, j] -= z
        for k in range(3, 6):
            jacobian[k, j] *= length
        for k in range(6):
            levers[k, j] = keep[j] * levers[k, j] + (1.0 - keep[j]) * jacobian[k, j]
    return True


@kernel
def wrench_kernel(
    length: float,
    smallest: float,
    levers: Matrix,
    tau: Vector,
    felt: Vector,
    square: Matrix,
    vectors: Matrix,
    wrench: Vector,
) -> bool:
    """
    Write the wrench at the frame's origin, in world axes.

    The squares of the singular values are left on the diagonal of `square`.

    """
    for r in range(6):
        for c in range(r + 1):
            total = 0.0
            for j in range(tau.size):
                total += levers[r, j] * levers[c, j]
            square[r, c] = total
            square[c, r] = total
        total = 0.0
        for j in range(tau.size):
            total += levers[r, j] * tau[j]
        felt[r] = total
        wrench[r] = 0.0
    diagonalize(square, vectors)
    for i in range(6):
        along = 0.0
        for k in range(6):
            along += vectors[k, i] * felt[k]
        along /= max(square[i, i], smallest * smallest)
        for k in range(6):
            wrench[k] += vectors[k, i] * along
    total = 0.0
    for k in range(6):
        if k >= 3:
            wrench[k] *= length
        total += 0.0 * wrench[k]
    return total == 0.0


@dataclass(frozen=True, eq=False)
class WrenchEstimate:
    """
    A wrench, and what of it the joints feel.

    Attributes
    ----------
    wrench : ndarray, shape (6,)
        ``[f; n]`` that acts on the robot [N, N m].
    levers : ndarray, shape (6,)
        Singular values of the Jacobian from the largest on, moments over the length [m].
    unobservable : ndarray, shape (6, k)
        Unit wrenches that the joints do not feel, moments over the length, at the frame's origin
        in the axes of the frame.

    """

    wrench: Vector
    levers: Vector
    unobservable: Matrix

    @property
    def is_observable(self) -> bool:
        """Whether all six components are."""
        return bool(self.unobservable.shape[1] == 0)

    @property
    def condition(self) -> float:
        """Return the largest over the smallest lever."""
        smallest = float(self.levers[-1])
        return float(self.levers[0]) / smallest if smallest > 0.0 else inf


class ExternalWrench:
    """
    Find the wrench at one frame from the external torques.

    Parameters
    ----------
    model : RobotModel
        The robot.
    frame : str
        Name of a link or joint frame that moves.
    reference_frame : ReferenceFrame
        ``LOCAL``: about the frame's origin, in its axes; ``LOCAL_WORLD_ALIGNED``: in the axes of
        the base; ``WORLD``: about the origin of the base, in its axes.
    length : float
        Length over which moments are counted [m].
    smallest_lever : float
        Lever below which a direction is damped and reported [m].

    Attributes
    ----------
    wrench : ndarray, shape (6,)
        The newest wrench ``[f; n]``; written in place [N, N m].

    Raises
    ------
    ConfigurationError
        If the frame does not move, or a number is not positive.
    UnknownFrameError
        If no frame has this name.

    """

    def __init__(
        self,
        model: RobotModel,
        frame: str,
        reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
        *,
        length: float = DEFAULT_LENGTH,
        smallest_lever: float = DEFAULT_SMALLEST_LEVER,
    ) -> None:
        found = model.frame(frame)
        if found.body < 0:
            raise ConfigurationError(
                f"frame '{frame}' is fixed to the base: no joint feels a wrench there; "
                'choose a frame that moves'
            )
        if not (0.0 < length < inf and 0.0 < smallest_lever < inf):
            raise ConfigurationError(
                f'length is {length:g} m and smallest_lever {smallest_lever:g} m, expected > 0'
            )
        self.model = model
        self.frame = frame
        self.reference_frame = reference_frame
        self.length = float(length)
        self.smallest_lever = float(smallest_lever)
        self._frame: Vector = np.array(found.kernel)
        self._work = np.empty(model.work_shape)
        self._rest = np.zeros(model.nv)
        self._jacobian = np.zeros((6, model.nv))
        self._rate = np.zeros((6, model.nv))
        self._pose = np.zeros((4, 3))
        self._pose[1:] = np.eye(3)
        self._filtered = np.zeros((6, model.nv))
        self._none = np.zeros(model.nv)
        self._felt = np.zeros(6)
        self._square = np.zeros((6, 6))
        self._vectors = np.zeros((6, 6))
        self.wrench = np.zeros(6)
        self._lever_kernel = entry_point(
            lever_kernel, *self._lever_arguments(np.zeros(model.nq), self._none)
        )
        self._kernel = entry_point(wrench_kernel, *self._arguments(np.zeros(model.nv)))
        self.forget()

    def _lever_arguments(self, q: Vector, keep: Vector) -> tuple[Any, ...]:
        return (
            self.model.kernel,
            self._work,
            self._frame,
            self.length,
            q,
            self._rest,
            keep,
            self._jacobian,
            self._rate,
            self._pose,
            self._filtered,
        )

    def _arguments(self, tau_ext: Vector) -> tuple[Any, ...]:
        return (
            self.length,
            self.smallest_lever,
            self._filtered,
            tau_ext,
            self._felt,
            self._square,
            self._vectors,
            self.wrench,
        )

    def forget(self) -> None:
        """Begin afresh with the filtered levers, as the observer does with its torques."""
        self._filtered.fill(0.0)

    def follow(self, q: Any, keep: Any) -> None:
        """
        Pass the levers of a pose through the filters that the external torques have passed.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Joint positions [rad | m].
        keep : array_like, shape (nv,)
            Part of the old value that the filter of each joint has kept, ``exp(-k dt)``.

        Raises
        ------
        DimensionError
            If a vector has another shape.
        NonFiniteError
            If a position is NaN or infinite.

        """
        q = as_vector('q', q, self.model.nq)
        keep = as_vector('keep', keep, self.model.nv)
        if not self._lever_kernel(*self._lever_arguments(q, keep)):
            refuse_non_finite('external wrench', q=q)

    def step(self, q: Any, tau_ext: Any) -> Vector:
        """
        Return `wrench` for external torques that are of now.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Joint positions [rad | m].
        tau_ext : array_like, shape (nv,)
            External torques, with the sign of `tau` [N m | N].

        Raises
        ------
        DimensionError
            If a vector has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        self.follow(q, self._none)
        return self.solve(tau_ext)

    def solve(self, tau_ext: Any) -> Vector:
        """
        Return `wrench` for external torques, with the levers as they are.

        Parameters
        ----------
        tau_ext : array_like, shape (nv,)
            External torques, with the sign of `tau` [N m | N].

        Raises
        ------
        DimensionError
            If it has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        tau_ext = as_vector('tau_ext', tau_ext, self.model.nv)
        wrench = self.wrench
        if not self._kernel(*self._arguments(tau_ext)):
            refuse_non_finite('external wrench', tau_ext=tau_ext)
        if self.reference_frame is ReferenceFrame.LOCAL:
            rotation = self._pose[1:]
            wrench[:] = (wrench.reshape(2, 3) @ rotation).ravel()
        elif self.reference_frame is ReferenceFrame.WORLD:
            x, y, z = self._pose[0].tolist()
            fx, fy, fz = wrench[:3].tolist()
            wrench[3:] += (y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
        return wrench

    @property
    def levers(self) -> Vector:
        """Return the singular values of the last step from the largest on [m]."""
        squares = np.maximum(np.diagonal(self._square), 0.0)
        levers: Vector = np.sqrt(np.sort(squares)[::-1])
        return levers

    def estimate(self, q: Any, tau_ext: Any) -> WrenchEstimate:
        """
        Return the wrench with what is observable of it; arguments and errors as of `step`.

        Raises
        ------
        DimensionError
            If a vector has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        wrench = self.step(q, tau_ext).copy()
        squares = np.diagonal(self._square)
        hidden = self._vectors[:, squares < self.smallest_lever**2]
        rotation = self._pose[1:]
        hidden = np.vstack((rotation.T @ hidden[:3], rotation.T @ hidden[3:]))
        return WrenchEstimate(frozen(wrench), frozen(self.levers), frozen(hidden))

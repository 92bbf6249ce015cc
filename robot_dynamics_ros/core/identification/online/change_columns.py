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
What each possible cause of a change does to the efforts: columns for comparing explanations.

Beside the columns of the payload and of friction, which rows have already, there are those of

- the effort sensor of a joint: a constant,
- the direction of gravity: :math:`\partial g / \partial \gamma` for gravity :math:`\gamma` turned
  about the two horizontal axes, as if the base had been tilted,
- a contact: the efforts :math:`-J^T f` against a force :math:`f` on the tip of each link, which
  is constant in the world for some time.

The last two are taken at the position that the robot had when the row's filter is late by its
delay. Each cause has a size that it usually has; it is the standard deviation of its prior.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import (
    frame_jacobian,
    generalized_gravity,
    ReferenceFrame,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, ROW_ORDER
from robot_dynamics_ros.core.identification.payload_columns import moving_frame
from robot_dynamics_ros.core.identification.possible_bodies import SIZE
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

PAYLOAD_SIZE = np.array([3.0, 0.3, 0.3, 0.3, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05])
"""Usual size of a payload [kg, kg m, kg m^2]."""

FRICTION_SHARE = 0.5
"""Usual change of friction, relative to what it was."""

TILT = 0.2
"""Usual change of the direction of gravity [rad]."""

FORCE = 30.0
"""Usual force of a contact [N]."""

KINDS = ('payload', 'friction', 'sensor offset', 'gravity direction', 'contact')


@dataclass(frozen=True, eq=False)
class Cause:
    """
    A possible explanation.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    where : str
        Joint of friction and sensors, link of contacts, frame of the payload; ``base`` for
        gravity.
    columns : ndarray of int, shape (k,)
        Among all columns.

    """

    kind: str
    where: str
    columns: NDArray[np.intp]


class ChangeColumns:
    """
    The columns of all causes, scaled by their usual sizes.

    Parameters
    ----------
    model : IdentificationModel
        The arm; its robot's description serves for gravity.
    base : ndarray, shape (rank,)
        Base parameters, for the usual size of changes of friction.
    frame : str
        Frame that holds the payload.
    cutoff : float
        Of the rows [Hz].

    Attributes
    ----------
    causes : tuple of Cause
    alike : tuple of tuple of Cause
        The same, those with as many columns together.
    count : int
        Number of columns.
    levels : ndarray, shape (nv,)
        Coulomb friction of each joint; a small part of the largest where there is none [N m | N].
    delay : float
        Of the rows' filter, with which the columns of positions are late [s].

    Raises
    ------
    UnknownFrameError, ConfigurationError
        If there is no such frame, or it does not move.

    """

    def __init__(
        self, model: IdentificationModel, base: Vector, frame: str, cutoff: float
    ) -> None:
        robot = model.robot
        moving_frame(robot, frame)
        self._robot = robot
        self._frames = _contact_frames(robot, frame)
        self._tilted = _tilted(robot)
        nv = robot.nv
        self.delay = MatchedFilter(cutoff, 1, ROW_ORDER).delay
        causes, at = [Cause('payload', frame, np.arange(SIZE, dtype=np.intp))], SIZE
        self._friction, self._sizes = [], []
        for j, name in enumerate(robot.v_names):
            own, sizes = _friction_of(model, base, j)
            if own:
                causes.append(Cause('friction', name, at + np.arange(len(own), dtype=np.intp)))
            self._friction += own
            self._sizes += sizes
            at += len(own)
        self.levels = _levels(model, base)
        self._offsets = np.diag(self.levels)
        for j, name in enumerate(robot.v_names):
            causes.append(Cause('sensor offset', name, np.array([at + j], dtype=np.intp)))
        at += nv
        if self._tilted:
            causes.append(Cause('gravity direction', 'base', at + np.arange(2, dtype=np.intp)))
        at += len(self._tilted)
        for link, _ in self._frames:
            causes.append(Cause('contact', link, at + np.arange(3, dtype=np.intp)))
            at += 3
        self.causes = tuple(causes)
        counts = sorted({len(cause.columns) for cause in causes})
        self.alike = tuple(
            tuple(cause for cause in causes if len(cause.columns) == count) for count in counts
        )
        self.count = at

    def friction_columns(self, joint: str) -> tuple[NDArray[np.intp], Vector]:
        """Return the base parameters of friction and offset of a joint, and usual changes."""
        for cause in self.causes:
            if cause.kind == 'friction' and cause.where == joint:
                places = cause.columns - SIZE
                return np.array(self._friction, dtype=np.intp)[places], np.array(self._sizes)[
                    places
                ]
        raise ConfigurationError(f"joint '{joint}' has no friction in the model")

    def scaled(self, cause: Cause, size: Vector) -> Vector:
        """Return parameters of a cause in SI units, from those relative to the usual size."""
        if cause.kind == 'payload':
            return np.asarray(size * PAYLOAD_SIZE)
        if cause.kind == 'friction':
            return np.asarray(size * np.array(self._sizes)[cause.columns - SIZE])
        if cause.kind == 'sensor offset':
            joint = self._robot.v_names.index(cause.where)
            return np.asarray(size * self._offsets[joint, joint])
        return np.asarray(size * (TILT if cause.kind == 'gravity direction' else FORCE))

    def columns(self, row: OnlineRow) -> Matrix:
        """Return the columns of a row, shape (nv, count)."""
        nv = self._robot.nv
        columns = np.empty((nv, self.count))
        columns[:, :SIZE] = row.payload * PAYLOAD_SIZE
        at = SIZE + len(self._friction)
        columns[:, SIZE:at] = row.regressor[:, self._friction] * self._sizes
        columns[:, at : at + nv] = self._offsets
        columns[:, at + nv :] = self._of_position(row.state.q - self.delay * row.state.v)
        return columns

    def tilts(self, row: OnlineRow) -> Matrix:
        """Return the columns of the two tilts of gravity, shape (nv, 2); zeros without gravity."""
        q = row.state.q - self.delay * row.state.v
        if not self._tilted:
            return np.zeros((len(q), 2))
        tilts: Matrix = np.array([generalized_gravity(r, q) for r in self._tilted]).T / TILT
        return tilts

    def _of_position(self, q: Vector) -> Matrix:
        robot = self._robot
        parts = [generalized_gravity(tilted, q)[:, None] for tilted in self._tilted]
        parts += [
            -FORCE * frame_jacobian(robot, q, frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3].T
            for _, frame in self._frames
        ]
        return np.hstack(parts)


def _contact_frames(robot: RobotModel, held: str) -> list[tuple[str, str]]:
    """Return each moving link with the frame at its tip: the joint that leaves it, or the hand."""
    moved = {joint.name: joint.body for joint in robot.joints}
    tips = {robot.frame(held).body: held}
    for joint in robot.description.joints:
        body = robot.frame(joint.parent).body if joint.parent in robot.frames else -1
        if joint.name in moved and body >= 0:
            tips.setdefault(body, robot.body_names[moved[joint.name]])
    frames = [(robot.body_names[body], tips[body]) for body in sorted(tips)]
    return frames


def _tilted(robot: RobotModel) -> list[RobotModel]:
    """
    Return the robot with what a little tilt about each horizontal axis adds to gravity.

    Efforts against gravity are linear in it.

    """
    size = float(np.linalg.norm(robot.gravity))
    if size < 1e-9:
        return []
    across = np.linalg.svd(np.asarray(robot.gravity)[None, :])[2][1:]
    return [robot.with_gravity(TILT * size * axis) for axis in across]


def _friction_of(
    model: IdentificationModel, base: Vector, joint: int
) -> tuple[list[int], list[float]]:
    """Return the base columns of viscous and Coulomb friction of a joint, and usual changes."""
    own, sizes = [], []
    level = _levels(model, base)[joint]
    for k, column in enumerate(model.base.independent):
        term = model.terms[column - model.n_inertial] if column >= model.n_inertial else None
        if term is None or term.kind in ('rotor_inertia', 'offset', 'stribeck'):
            continue
        if len(term.weights) == 1 and term.weights[0][0] == joint:
            own.append(k)
            sizes.append(FRICTION_SHARE * max(abs(float(base[k])), level))
    return own, sizes


def _levels(model: IdentificationModel, base: Vector) -> Vector:
    """Return the largest Coulomb level of each joint, or a tenth of its gravity without any."""
    levels = np.zeros(model.robot.nv)
    for k, column in enumerate(model.base.independent):
        if column >= model.n_inertial:
            term = model.terms[column - model.n_inertial]
            if term.kind == 'coulomb':
                for joint, _ in term.weights:
                    levels[joint] = max(levels[joint], abs(float(base[k])))
    least = 0.02 * float(levels.max(initial=0.0)) or 1.0
    return np.maximum(levels, least)

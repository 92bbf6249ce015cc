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
Friction of each joint while the robot moves, by a small recursive fit of its own.

Of a joint's row, what the bodies explain is taken off; they stay as they were at the start,

.. math:: r_j = \tau_j - Y_{j,b}\,\beta_b = y_j^T \phi_j + e_j, \qquad
          \sigma_j^2 = s_j^2 + Y_{j,b}\,P_b\,Y_{j,b}^T

with the terms :math:`\phi_j` of the joint's own drive (viscous, Coulomb, Stribeck, offset, as the
model has them), the deviation :math:`s_j` of rows, and the covariance :math:`P_b` of the bodies.
How the terms are fitted, and when they count as changed, says `joint_friction_fit`.

With Stribeck velocities to try, the static level and the velocity over which it falls are found as
well (`stribeck_grid`), in place of a Stribeck term that the model may have. Until slow motion has
shown them, what the model has is published.

What is published takes energy: a level or damping below zero is set to zero, and the joint's
others are what they are under that condition.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_file import JointFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identified_model import joint_friction
from robot_dynamics_ros.core.identification.online.friction_columns import (
    body_root,
    columns_of_joints,
    conditioned,
    coulomb_level,
    sizes,
)
from robot_dynamics_ros.core.identification.online.joint_friction_fit import (
    FitState,
    JointFrictionFit,
    SHORTEST_MEMORY,
)
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.identification.online.online_state import part_of
from robot_dynamics_ros.core.identification.online.static_friction import (
    STATIC_OPEN,
    STATIC_SEEN,
    STATIC_WIDEST,
    StaticFriction,
    with_static_friction,
)

MEMORY = 30.0
"""Seconds of motion of a joint after which its rows count for a third, in calm."""

WIDEST = 0.1
"""Deviation that forgetting does not lead beyond, as a part of the friction at the start."""

OPENED = 0.25
"""Deviation that a change adds, likewise."""

TRACKED = ('viscous', 'coulomb', 'stribeck', 'offset')


class FrictionTracker:
    """
    Recursive estimate of the friction of all joints.

    Motors that turn with two joints stay as they were at the start.

    Parameters
    ----------
    start : OnlineStart
        What to start from.
    memory : float
        Seconds of motion of a joint after which its rows count for a third, in calm; at least
        `SHORTEST_MEMORY`.
    velocities : ndarray, shape (K,), optional
        Stribeck velocities to try; rows then need their columns.

    Attributes
    ----------
    start : OnlineStart
    names : tuple of str
        ``joint/term`` of each estimate.
    columns : ndarray of int, shape (n,)
        Their places among the base parameters.
    fits : tuple of JointFrictionFit
        Those of all joints.

    Raises
    ------
    ConfigurationError
        If the model has no friction, or the memory is too short.

    """

    def __init__(
        self, start: OnlineStart, memory: float = MEMORY, velocities: Vector | None = None
    ) -> None:
        if not memory >= SHORTEST_MEMORY:
            raise ConfigurationError(
                f'memory of the friction is {memory} s, expected at least {SHORTEST_MEMORY}'
            )
        model = start.model
        self.start = start
        self._memory = memory
        self._velocities = velocities
        kinds = TRACKED if velocities is None else tuple(set(TRACKED) - {'stribeck'})
        self._of_joint = columns_of_joints(start, kinds)
        self.columns = np.concatenate(self._of_joint)
        if not len(self.columns):
            raise ConfigurationError('the model has no friction terms: there is none to track')
        self.names = tuple(model.base.base_names[k] for k in self.columns)
        self._bodies = start.base.copy()
        self._bodies[self.columns] = 0.0
        self._levels = np.zeros((model.robot.nv, 0 if velocities is None else len(velocities)))
        self._stated = columns_of_joints(start, () if velocities is None else ('stribeck',))
        stated = np.concatenate(self._stated)
        self._bodies[stated] = 0.0
        self._given_up = start.base - self._bodies
        self._given_up[self.columns] = 0.0
        self._body_root = body_root(start, np.concatenate([self.columns, stated]))
        self._squares: Vector = start.row_deviations**2
        self._places = _places(self._of_joint)
        self.fits = self._fresh_fits()
        for j in range(model.robot.nv):
            self._note_level(j)
        self._row: OnlineRow | None = None
        self._rest = self._deviations = np.zeros(model.robot.nv)

    def _fresh_fits(self) -> tuple[JointFrictionFit, ...]:
        start = self.start
        fits = []
        for j, c in enumerate(self._of_joint):
            estimate, covariance = start.base[c], start.covariance[np.ix_(c, c)]
            widest, opened = sizes(start, c, WIDEST), sizes(start, c, OPENED)
            velocities = self._velocities if len(c) else None
            if velocities is not None:
                level = max(coulomb_level(start, c), float(start.spread[j]))
                stated = float(start.base[self._stated[j]].sum())
                estimate = np.append(estimate, np.clip(stated, 0.0, STATIC_OPEN * level))
                covariance = block_diag(covariance, (STATIC_OPEN * level) ** 2)
                widest, opened = (np.append(x, STATIC_WIDEST * level) for x in (widest, opened))
            fits.append(
                JointFrictionFit(estimate, covariance, widest, opened, self._memory, velocities)
            )
        return tuple(fits)

    def step(
        self, row: OnlineRow, use: NDArray[np.bool_], effort: Vector | None = None
    ) -> NDArray[np.bool_]:
        """
        Take in a row, or some joints of it and the others later.

        Parameters
        ----------
        row : OnlineRow
            The row.
        use : ndarray of bool, shape (nv,)
            Which joints' equations may be learnt from; without any nothing changes.
        effort : ndarray, shape (nv,), optional
            What of the row's effort something else explains, as a payload [N m | N].

        Returns
        -------
        changed : ndarray of bool, shape (nv,)
            Joints for which new friction has just been found.

        """
        changed = np.zeros(len(self.fits), dtype=bool)
        if not use.any():
            return changed
        if row is not self._row:
            self._look_at(row, effort)
        for j in np.flatnonzero(use).tolist():
            own = self._of_joint[j]
            if len(own):
                columns = row.regressor[j, own]
                if self._velocities is not None:
                    columns = np.concatenate([columns, row.stribeck[j]])
                changed[j] = self.fits[j].step(
                    columns, float(self._rest[j]), float(self._deviations[j]),
                    float(row.state.v[j]), row.step,
                )  # fmt: skip
                self._note_level(j)
        return changed

    def _look_at(self, row: OnlineRow, effort: Vector | None) -> None:
        """Take off what bodies and anything else explain, for all joints."""
        rest = row.tau - row.regressor @ self._bodies
        self._rest = rest if effort is None else rest - effort
        unsure = row.regressor @ self._body_root
        self._deviations = np.sqrt(self._squares + np.sum(unsure * unsure, axis=1))
        self._row = row

    def _note_level(self, j: int) -> None:
        grid = self.fits[j].grid
        if grid is not None:
            self._levels[j] = self.fits[j].estimate[len(self._of_joint[j]) :]

    def static_effort(self, row: OnlineRow) -> Vector:
        """
        Return the friction of a row that is not in `base`, shape (nv,) [N m | N].

        That is the level at rest as tracked, less that of the start.

        """
        if self._velocities is None:
            return np.zeros(len(self.fits))
        effort: Vector = np.einsum('jk,jk->j', row.stribeck, self._levels)
        effort -= row.regressor @ self._given_up
        return effort

    def static_deviation(self, row: OnlineRow) -> Vector:
        """Return the standard deviation of what a row owes to levels at rest, shape (nv,)."""
        if self._velocities is None:
            return np.zeros(len(self.fits))
        return np.array([
            0.0 if fit.grid is None else fit.grid.unsure(row.stribeck[j])
            for j, fit in enumerate(self.fits)
        ])  # fmt: skip

    @property
    def static_friction(self) -> tuple[StaticFriction | None, ...]:
        """Return how the friction of each joint rises at slow speed; None if it is not known."""
        return tuple(
            None
            if fit.grid is None or fit.grid.seen < STATIC_SEEN
            else StaticFriction(
                float(self._possible_of(j)[-1]), float(np.sqrt(fit.covariance[-1, -1])),
                fit.grid.velocity, fit.grid.velocity_deviation,
            )
            for j, fit in enumerate(self.fits)
        )  # fmt: skip

    @property
    def is_tracking(self) -> NDArray[np.bool_]:
        """Tell the joints whose friction is neither on trial nor in doubt, shape (nv,)."""
        return np.array([fit.state is FitState.TRACKING for fit in self.fits], dtype=bool)

    @property
    def changes(self) -> NDArray[np.intp]:
        """Return how often the friction of each joint was found to change, shape (nv,)."""
        return np.array([fit.changes for fit in self.fits], dtype=np.intp)

    @property
    def estimate(self) -> Vector:
        """Return the terms as they were fitted, shape (n,), in the order of `names`."""
        return np.concatenate(
            [fit.estimate[: len(own)] for fit, own in zip(self.fits, self._of_joint)]
        )

    @property
    def covariance(self) -> Matrix:
        """Return their covariance, shape (n, n); joints are independent of each other."""
        covariance = np.zeros((len(self.columns), len(self.columns)))
        for fit, place in zip(self.fits, self._places):
            size = place.stop - place.start
            covariance[place, place] = fit.covariance[:size, :size]
        return covariance

    @property
    def deviations(self) -> Vector:
        """Return their standard deviations, shape (n,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def possible(self) -> Vector:
        """Return the terms under the condition that none takes less energy than none, (n,)."""
        return np.concatenate(
            [self._possible_of(j)[: len(own)] for j, own in enumerate(self._of_joint)]
        )

    def _possible_of(self, j: int) -> Vector:
        """Return the terms of a joint, and its level at rest where that is tracked."""
        fit, own, model = self.fits[j], self._of_joint[j], self.start.model
        found = fit.estimate
        bounded = [
            model.terms[model.base.independent[k] - model.n_inertial].is_nonnegative for k in own
        ]
        if fit.grid is not None:
            found = np.append(found[: len(own)], found[len(own) :].sum())
            bounded.append(True)
        marked = np.array(bounded, dtype=bool)
        if (found[marked] < 0.0).any():
            return conditioned(found, fit.covariance, marked)
        return found

    @property
    def base(self) -> Vector:
        """Return all base parameters: the friction as tracked, the bodies of the start."""
        base: Vector = np.array(self.start.base)
        base[self.columns] = self.estimate
        return base

    @property
    def joint_friction(self) -> dict[str, JointFriction]:
        """Return the friction of each joint in the terms of the friction file."""
        named = dict(zip(self.names, self.possible.tolist()))
        model = self.start.model
        joints = {
            name: joint_friction(name, named, width, [])
            for name, width in zip(model.robot.v_names, model.velocities)
        }
        return with_static_friction(joints, self.static_friction)

    @property
    def friction_model(self) -> FrictionModel:
        """Return the friction for commands."""
        return FrictionModel.from_joints(self.joint_friction)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what makes up the tracker, as arrays."""
        return {
            f'{name}/{key}': value
            for name, fit in zip(self.start.model.robot.v_names, self.fits)
            for key, value in fit.arrays().items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to a state.

        Raises
        ------
        ConfigurationError
            If an array makes no sense.
        DimensionError, NonFiniteError
            If it is missing, of another size, or not finite.

        """
        fits = self._fresh_fits()
        for name, fit in zip(self.start.model.robot.v_names, fits):
            fit.restore(part_of(state, f'{name}/'))
        self.fits, self._row = fits, None
        for j in range(len(fits)):
            self._note_level(j)


def _places(of_joint: list[NDArray[np.intp]]) -> list[slice]:
    ends = np.cumsum([len(columns) for columns in of_joint]).tolist()
    return [slice(end - len(columns), end) for end, columns in zip(ends, of_joint)]

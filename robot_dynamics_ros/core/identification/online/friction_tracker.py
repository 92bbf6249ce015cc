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

How much is forgotten follows the data. In calm the memory is long, so that errors average out.
Two cumulated sums for each joint watch the normalised errors :math:`z` along and against the
motion (that is where more or less friction shows), two more their sign (an offset),

.. math:: g \leftarrow \max(0,\; g + u - k), \qquad u = \pm z\,\operatorname{sgn} v,\; \pm z

and one beyond `h` is a change: the joint's friction becomes uncertain at once, and the memory
begins again at the time since the change, growing with it, so that what was before does not count
and all that came after does. For errors without a change that are normal with unit variance, a
false alarm of one sum comes about every :math:`e^{2 k h}` rows.

What is published takes energy: a level or damping below zero is set to zero, and the joint's
others are what they are under that condition.

References
----------
.. [1] E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.
.. [2] F. Gustafsson, *Adaptive Filtering and Change Detection*, 2000, sections 3.3 and 5.4.
.. [3] T. R. Fortescue, L. S. Kershenbaum, B. E. Ydstie, "Implementation of self-tuning regulators
   with variable forgetting factors", Automatica 17(6), 1981.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_file import JointFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identified_model import joint_friction
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.identification.online.online_state import part_of
from robot_dynamics_ros.core.identification.online.square_root_rls import SquareRootRls

MEMORY = 30.0
"""Seconds of motion of a joint after which its rows count for a third, in calm."""

SHORTEST_MEMORY = 2.0
"""The same just after a change."""

DRIFT = 0.5
"""`k`: errors that many deviations off are no change yet."""

THRESHOLD = 15.0
"""`h`: cumulated deviations beyond `DRIFT` that are a change."""

LARGEST_ERROR = 5.0
"""Errors count up to so many deviations: one wrong message is no change."""

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

    Attributes
    ----------
    start : OnlineStart
    names : tuple of str
        ``joint/term`` of each estimate.
    columns : ndarray of int, shape (n,)
        Their places among the base parameters.
    changed_at : ndarray, shape (nv,)
        Stamp of the last change of each joint; nan where there was none [s].
    changes : ndarray of int, shape (nv,)
        Number of them.

    Raises
    ------
    ConfigurationError
        If the model has no friction, or the memory is too short.

    """

    def __init__(self, start: OnlineStart, memory: float = MEMORY) -> None:
        if not memory >= SHORTEST_MEMORY:
            raise ConfigurationError(
                f'memory of the friction is {memory} s, expected at least {SHORTEST_MEMORY}'
            )
        model = start.model
        self.start = start
        self._memory = memory
        self._of_joint = _columns_of_joints(start)
        self.columns = np.concatenate(self._of_joint)
        if not len(self.columns):
            raise ConfigurationError('the model has no friction terms: there is none to track')
        self.names = tuple(model.base.base_names[k] for k in self.columns)
        self._bodies = start.base.copy()
        self._bodies[self.columns] = 0.0
        self._body_root = _body_root(start, self.columns)
        self._squares: Vector = start.row_deviations**2
        self._places = _places(self._of_joint)
        nv = model.robot.nv
        self._rls = [
            SquareRootRls(
                start.base[c],
                start.covariance[np.ix_(c, c)],
                _sizes(start, c, WIDEST),
                everywhere=True,
            )
            for c in self._of_joint
        ]  # fmt: skip
        self._estimate = start.base[self.columns].copy()
        self._row: OnlineRow | None = None
        self._rest = self._deviations = np.zeros(nv)
        self._sums = np.zeros((nv, 4))
        self._age = np.full(nv, memory)
        self.changed_at = np.full(nv, np.nan)
        self.changes = np.zeros(nv, dtype=np.intp)

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
            Joints whose friction has just been found to change.

        """
        changed = np.zeros(len(self._rls), dtype=bool)
        if not use.any():
            return changed
        if row is not self._row:
            self._rest = row.tau - row.regressor @ self._bodies
            if effort is not None:
                self._rest = self._rest - effort
            unsure = row.regressor @ self._body_root
            self._deviations = np.sqrt(self._squares + np.sum(unsure * unsure, axis=1))
            self._row = row
        for j in np.flatnonzero(use).tolist():
            if len(self._of_joint[j]):
                changed[j] = self._take_in(j, row)
        return changed

    def _take_in(self, j: int, row: OnlineRow) -> bool:
        rest, deviation = float(self._rest[j]), float(self._deviations[j])
        columns = row.regressor[j, self._of_joint[j]]
        rls, place = self._rls[j], self._places[j]
        error = (rest - float(columns @ self._estimate[place])) / deviation
        is_change = self._watch(j, error, float(row.state.v[j]))
        if is_change:
            self._open(j, row.stamp)
        self._age[j] = min(self._memory, self._age[j] + row.step)
        share = row.step / max(SHORTEST_MEMORY, float(self._age[j]))
        rls.forgetting = 1.0 - min(0.5, share)
        rls.update(columns, rest, deviation)
        self._estimate[place] = rls.estimate
        return is_change

    def _watch(self, j: int, error: float, v: float) -> bool:
        """Return whether the error makes one of the joint's sums a change."""
        z = min(max(error, -LARGEST_ERROR), LARGEST_ERROR)
        along = z if v > 0.0 else -z
        forward, backward, up, down = self._sums[j].tolist()
        sums = (
            max(0.0, forward + along - DRIFT),
            max(0.0, backward - along - DRIFT),
            max(0.0, up + z - DRIFT),
            max(0.0, down - z - DRIFT),
        )
        self._sums[j] = sums
        return bool(max(sums) > THRESHOLD)

    def _open(self, j: int, stamp: float) -> None:
        """Make the friction of a joint uncertain."""
        opened = _sizes(self.start, self._of_joint[j], OPENED)
        covariance = self._rls[j].covariance + np.diag(opened**2)
        self._rls[j].restart(self._rls[j].estimate, covariance)
        self._sums[j] = 0.0
        self._age[j] = 0.0
        self.changed_at[j] = stamp
        self.changes[j] += 1

    @property
    def estimate(self) -> Vector:
        """Return the terms as they were fitted, shape (n,), in the order of `names`."""
        return np.array(self._estimate)

    @property
    def covariance(self) -> Matrix:
        """Return their covariance, shape (n, n); joints are independent of each other."""
        covariance = np.zeros((len(self.columns), len(self.columns)))
        for rls, place in zip(self._rls, self._places):
            covariance[place, place] = rls.covariance
        return covariance

    @property
    def deviations(self) -> Vector:
        """Return their standard deviations, shape (n,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def possible(self) -> Vector:
        """Return the terms under the condition that none takes less energy than none, (n,)."""
        possible: Vector = np.array(self._estimate)
        model = self.start.model
        for rls, place in zip(self._rls, self._places):
            own = self.columns[place]
            bounded = np.array(
                [model.terms[model.base.independent[k] - model.n_inertial].is_nonnegative
                 for k in own], dtype=bool,
            )  # fmt: skip
            if (possible[place][bounded] < 0.0).any():
                possible[place] = _conditioned(possible[place], rls.covariance, bounded)
        return possible

    @property
    def base(self) -> Vector:
        """Return all base parameters: the friction as tracked, the bodies of the start."""
        base: Vector = np.array(self._bodies)
        base[self.columns] = self._estimate
        return base

    @property
    def joint_friction(self) -> dict[str, JointFriction]:
        """Return the friction of each joint in the terms of the friction file."""
        named = dict(zip(self.names, self.possible.tolist()))
        model = self.start.model
        return {
            name: joint_friction(name, named, width, [])
            for name, width in zip(model.robot.v_names, model.velocities)
        }

    @property
    def friction_model(self) -> FrictionModel:
        """Return the friction for commands."""
        joints = self.joint_friction
        values = list(joints.values())
        return FrictionModel(
            tuple(joints),
            np.array([joint.viscous for joint in values]),
            np.array([joint.coulomb_positive for joint in values]),
            np.array([joint.coulomb_negative for joint in values]),
            np.array([joint.smoothing_velocity for joint in values]),
            np.array([joint.backward_viscous for joint in values]),
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what makes up the tracker, as arrays."""
        state = {
            'sums': self._sums.copy(),
            'age': self._age.copy(),
            'changes': self.changes.astype(np.float64),
        }
        for name, rls in zip(self.start.model.robot.v_names, self._rls):
            state.update({f'{name}/{key}': value for key, value in rls.state().items()})
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to a state; when changes were is forgotten, as stamps begin anew.

        Raises
        ------
        ConfigurationError
            If an array is missing or makes no sense.
        DimensionError, NonFiniteError
            If it is of another size, or not finite.

        """
        kept = {
            key: as_finite(key, state.get(key, ()), shape)
            for key, shape in (
                ('sums', self._sums.shape),
                ('age', self._age.shape),
                ('changes', self._age.shape),
            )
        }
        fresh = FrictionTracker(self.start, self._memory)
        for name, rls, place in zip(self.start.model.robot.v_names, fresh._rls, self._places):
            rls.restore(part_of(state, f'{name}/'))
            fresh._estimate[place] = rls.estimate
        self._rls, self._estimate = fresh._rls, fresh._estimate
        self._sums, self._age = kept['sums'].copy(), kept['age'].copy()
        self.changes = kept['changes'].astype(np.intp)
        self.changed_at = np.full(len(self._age), np.nan)


def _columns_of_joints(start: OnlineStart) -> list[NDArray[np.intp]]:
    """Return the places of the friction terms of each joint alone among the base parameters."""
    model = start.model
    found: list[list[int]] = [[] for _ in range(model.robot.nv)]
    for place, column in enumerate(model.base.independent):
        if column < model.n_inertial:
            continue
        term = model.terms[column - model.n_inertial]
        if term.kind in TRACKED and len(term.weights) == 1:
            found[term.weights[0][0]].append(place)
    return [np.array(places, dtype=np.intp) for places in found]


def _places(of_joint: list[NDArray[np.intp]]) -> list[slice]:
    ends = np.cumsum([len(columns) for columns in of_joint]).tolist()
    return [slice(end - len(columns), end) for end, columns in zip(ends, of_joint)]


def _body_root(start: OnlineStart, friction: NDArray[np.intp]) -> Matrix:
    """Return a root of the covariance of all that is not tracked, zero for what is."""
    covariance = start.covariance.copy()
    covariance[friction] = 0.0
    covariance[:, friction] = 0.0
    sizes, axes = np.linalg.eigh(covariance)
    return np.ascontiguousarray(axes * np.sqrt(np.maximum(sizes, 0.0)))


def _sizes(start: OnlineStart, columns: NDArray[np.intp], share: float) -> Vector:
    """Return a part of a joint's terms; of small ones half that of its Coulomb level."""
    model = start.model
    own = np.sqrt(np.diag(start.covariance)[columns])
    values = np.abs(start.base[columns])
    kinds = [model.terms[model.base.independent[k] - model.n_inertial].kind for k in columns]
    levels = [value for value, kind in zip(values.tolist(), kinds) if kind == 'coulomb']
    least = [
        0.0 if kind == 'viscous' else 0.5 * share * max(levels, default=0.0) for kind in kinds
    ]
    return np.asarray(np.maximum(3.0 * own, np.maximum(share * values, least)))


def _conditioned(values: Vector, covariance: Matrix, bounded: NDArray[np.bool_]) -> Vector:
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

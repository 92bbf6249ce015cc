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
What the flange carries, while the robot moves: mass, centre of mass and inertia.

The estimate is of all that is there, not of what is there besides a payload that somebody stated:
a stated payload is where the estimate starts from. Nothing is a payload of its own: while the
flange counts as empty there is no estimate at all, `payload` is None, and a model without payload
is the very same model.

Rows are learnt from some time after they came (`LAG`). By then it is mostly known whether
something changed in between, and when: the rows before the change are of what was there before,
those while the filters held both are left out, and those after it are of what is there now. For
changes that are found later, what was known is kept for some seconds (`HISTORY`) and the rows
since then are learnt from again.

"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.identified_model import inertial_of_parameters
from robot_dynamics_ros.core.identification.online.arm_errors import ArmErrors
from robot_dynamics_ros.core.identification.online.log_cholesky_step import (
    best_body,
    body_of,
    BodyProblem,
    log_cholesky,
)
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.payload_columns import ten_parameters
from robot_dynamics_ros.core.identification.payload_fit import (
    divergence_hessian,
    payload_quantities,
    PRIOR_MASS,
    REACH,
)
from robot_dynamics_ros.core.identification.possible_bodies import (
    parameters_of_pseudo_inertia,
    possible_prior,
)
from robot_dynamics_ros.core.model.payload import Payload

LAG = 0.6
"""Age at which a row is learnt from [s]: changes must be found before."""

HISTORY = 6.0
"""For how long rows that were learnt from are kept, to take them back [s]."""

SNAPSHOT_PERIOD = 1.0
"""Time between states of the estimate that are kept [s]."""

LONGEST_MEMORY = 8.0
"""Rows that wait for longer, while a change is not explained, are dropped [s]."""

MIXED = 0.3
"""How long the filtered rows hold what was before a change and what came after it [s]."""

FIT_PERIOD = 0.2
"""A possible body is fitted anew so often at most [s]."""

SMALLEST_MASS = 0.1
"""A payload of less than this is none [kg]."""

SURE = 3.0
"""Standard deviations by which a mass must differ from another one."""

FARTHEST = 1.0
"""Of the centre of mass from the origin of the frame, where a search begins [m]."""

STATED_SHARE = 0.1
"""Relative standard deviation of the mass of a payload that was stated."""

WEIGHT = 1.0
"""Of the prior: a divergence of one counts like one squared standard deviation."""


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """
    A payload and how well it is known.

    Attributes
    ----------
    payload : Payload
        A body that can exist.
    parameters : ndarray, shape (10,)
        About the frame's origin, as everywhere.
    covariance : ndarray, shape (10, 10)
        Of these.

    """

    payload: Payload
    parameters: Vector
    covariance: Matrix

    @property
    def mass_deviation(self) -> float:
        """Return the standard deviation of the mass [kg]."""
        return float(np.sqrt(self.covariance[0, 0]))

    @cached_property
    def deviation(self) -> Vector:
        """
        Return standard deviations of mass, centre of mass and inertia about it, shape (10,).

        In the order of `payload_fit.QUANTITIES` [kg, m, kg m^2].

        """
        return frozen(quantity_deviation(self.parameters, self.covariance))


@dataclass(frozen=True, eq=False)
class WaitingRow:
    """A row that is not learnt from yet."""

    row: OnlineRow
    residual: Vector
    deviation: Vector
    use: NDArray[np.bool_]


class PayloadTracker:
    """
    The payload of an arm, row by row.

    Parameters
    ----------
    arm : ArmErrors
        What is known of the arm's errors; it is changed.
    frame : str
        Link or joint frame that holds the payload, of the rows' columns.
    stated : Payload, optional
        What is said to be there, in this frame; none by default.

    Attributes
    ----------
    on_hold : bool
        While it is set, rows wait.

    """

    def __init__(self, arm: ArmErrors, frame: str, stated: Payload | None = None) -> None:
        self.arm = arm
        self.frame = frame
        self.on_hold = False
        self._waiting: deque[WaitingRow] = deque()
        self._past: deque[WaitingRow] = deque()
        self._snapshots: deque[tuple[float, dict[str, NDArray[np.float64]]]] = deque()
        self._theta: Vector | None = None
        self._prior = prior_body(PRIOR_MASS)
        self._estimate: PayloadEstimate | None = None
        self._is_new = False
        self._learnt_at = self._fit_at = 0.0
        self._due_rows = 0
        if stated is not None and stated.mass > 0.0:
            self.state_payload(stated)

    def state_payload(self, stated: Payload | None) -> None:
        """Start anew from what somebody says is there."""
        if stated is None or stated.mass <= 0.0:
            self.arm.release()
            self._forget()
            return
        prior = possible_prior(ten_parameters(stated.spatial_inertia()))
        spread = np.sqrt(np.diag(np.linalg.inv(divergence_hessian(prior))))
        self.arm.grasp(prior, STATED_SHARE * spread)
        self._prior, self._theta = prior, log_cholesky(prior)
        self._is_new = True

    @property
    def is_loaded(self) -> bool:
        """Whether something is at the flange."""
        return self.arm.is_loaded

    @property
    def estimate(self) -> PayloadEstimate | None:
        """Return the payload, or None if there is none."""
        if self._is_due and (self._estimate is None or self._due_rows > 1):
            self._fit()
        return self._estimate if self.arm.is_loaded else None

    @property
    def _is_due(self) -> bool:
        return self.arm.is_loaded and self._is_new and self._learnt_at >= self._fit_at

    @property
    def parameters(self) -> Vector:
        """Return the ten parameters, zeros if there is none."""
        estimate = self.estimate
        return np.zeros(10) if estimate is None else estimate.parameters

    @property
    def waiting(self) -> tuple[WaitingRow, ...]:
        """Return the rows that are not learnt from yet, oldest first."""
        return tuple(self._waiting)

    def step(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> None:
        """
        Take in a row.

        Parameters
        ----------
        row : OnlineRow
            With columns of a payload.
        residual : ndarray, shape (nv,)
            Measured efforts less those of the arm without payload, by the model of the arm and
            its friction that is used now [N m | N].
        deviation : ndarray, shape (nv,)
            Standard deviations of the residuals by noise and by what the model's form lacks.
        use : ndarray of bool, shape (nv,)
            Which joints count.

        """
        self._waiting.append(WaitingRow(row, residual.copy(), deviation.copy(), use.copy()))
        if self.on_hold:
            if row.stamp - self._waiting[0].row.stamp > LONGEST_MEMORY:
                self._waiting.popleft()
            return
        self._learn(row.stamp - LAG)
        self._due_rows += self._is_due

    def work(self) -> None:
        """Do a part of what rows left to do; the next row does what is left then."""
        if not self.arm.work() and self._is_due:
            self._fit()

    def changed(self, since: float) -> None:
        """Say that another payload, or none, is there since some time; the rows after it tell."""
        self._go_back(since)
        self._drop(since + MIXED)
        self.arm.grasp()
        self._theta, self._prior = None, prior_body(PRIOR_MASS)
        self._estimate, self._is_new, self._fit_at = None, True, -np.inf
        self._catch_up()

    def vanished(self, since: float) -> None:
        """Say that nothing is there any more since some time."""
        self._go_back(since)
        self._drop(since + MIXED)
        self.arm.release()
        self._forget()
        self._catch_up()

    def arm_changed(self, since: float, columns: NDArray[np.intp], deviations: Vector) -> None:
        """Say that some base parameters of the arm are others since some time."""
        self._go_back(since)
        self._drop(since + MIXED)
        self.arm.open(columns, deviations)
        self._catch_up()

    def discard(self, since: float, until: float = np.inf) -> None:
        """Say that the rows of some time are of something else: nothing is learnt of them."""
        self._go_back(since)
        self._drop(until)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Return everything that `restore` needs; rows that wait are lost."""
        theta = np.full(10, np.nan) if self._theta is None else self._theta
        return {**self.arm.state(), 'theta': theta, 'prior': self._prior}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """
        Go on from a state.

        Raises
        ------
        ConfigurationError, DimensionError, NonFiniteError
            If it is not one of this arm.

        """
        self.arm.restore(state)
        for rows in (self._waiting, self._past, self._snapshots):
            rows.clear()
        theta = np.asarray(state['theta'])
        self._theta = None if np.isnan(theta).any() else theta
        self._prior = np.asarray(state['prior'])
        self._is_new = True

    def _learn(self, until: float) -> None:
        """Learn from the rows up to some time."""
        while self._waiting and self._waiting[0].row.stamp <= until:
            waited = self._waiting.popleft()
            self._keep(waited)
            self.arm.update(waited.row, waited.residual, waited.deviation, waited.use)
            self._is_new = True
            self._learnt_at = waited.row.stamp

    def _keep(self, learnt: WaitingRow) -> None:
        """Keep a row that is going to be learnt from, and now and then what was known before."""
        stamp, snapshots, past = learnt.row.stamp, self._snapshots, self._past
        if not snapshots or stamp - snapshots[-1][0] > SNAPSHOT_PERIOD:
            snapshots.append((stamp, self.arm.state()))
        past.append(learnt)
        while len(snapshots) > 1 and stamp - snapshots[1][0] > HISTORY:
            snapshots.popleft()
        while past[0].row.stamp < snapshots[0][0]:
            past.popleft()

    def _go_back(self, since: float) -> None:
        """Take back the rows that were learnt from since some time, and learn those before."""
        if self._past and self._past[-1].row.stamp > since:
            while len(self._snapshots) > 1 and self._snapshots[-1][0] > since:
                self._snapshots.pop()
            stamp, state = self._snapshots.pop()
            if self.arm.is_loaded == bool(state['is_loaded']):
                self.arm.restore(state)
                while self._past and self._past[-1].row.stamp >= stamp:
                    self._waiting.appendleft(self._past.pop())
        self._learn(since)
        self._snapshots.clear()
        self._past.clear()

    def _drop(self, until: float) -> None:
        while self._waiting and self._waiting[0].row.stamp <= until:
            self._waiting.popleft()

    def _catch_up(self) -> None:
        self.on_hold = False
        if self._waiting:
            self._learn(self._waiting[-1].row.stamp - LAG)

    def _forget(self) -> None:
        self._theta = self._estimate = None
        self._prior = prior_body(PRIOR_MASS)

    def _fit(self) -> None:
        """Find the possible body, from the one before."""
        root, right = self.arm.payload_root
        shown = shown_body(root, right)
        if self._theta is None and shown is not None:
            self._prior = prior_body(shown[0])
        fresh = log_cholesky(self._prior if shown is None else shown)
        problem = BodyProblem(root, right, self._prior, WEIGHT)
        self._theta = best_body(problem, self._theta, fresh)
        self._is_new = False
        self._fit_at, self._due_rows = self._learnt_at + FIT_PERIOD, 0
        parameters, _ = body_of(self._theta)
        information = root.T @ root + 0.5 * WEIGHT * divergence_hessian(parameters)
        covariance = inverse_of(information)
        inertial = inertial_of_parameters(parameters)
        self._estimate = PayloadEstimate(
            Payload(inertial.mass, self.frame, inertial.com, inertial.inertia),
            frozen(parameters),
            frozen(covariance),
        )
        if self._prior[0] == PRIOR_MASS or abs(np.log(parameters[0] / self._prior[0])) > 0.3:
            self._prior = self._prior * (parameters[0] / self._prior[0])


def shown_body(root: Matrix, right: Vector) -> Vector | None:
    """Return a compact body with the mass and its centre that rows show; None if they do not."""
    inverse = np.linalg.inv(root)
    mass, *moments = (inverse @ right)[:4].tolist()
    if mass <= SURE * float(np.linalg.norm(inverse[0])):
        return None
    mass = max(mass, SMALLEST_MASS)
    com = np.clip(np.array(moments) / mass, -FARTHEST, FARTHEST)
    pseudo = mass * np.eye(4)
    pseudo[:3, :3] = mass * (REACH**2 * np.eye(3) + np.outer(com, com))
    pseudo[:3, 3] = pseudo[3, :3] = mass * com
    return parameters_of_pseudo_inertia(pseudo)


def inverse_of(information: Matrix) -> Matrix:
    """Return the inverse of a positive definite matrix, with a positive diagonal in any case."""
    scale = 1.0 / np.sqrt(np.diag(information))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    roots = vectors / np.sqrt(np.maximum(values, np.finfo(float).eps))
    scaled = scale[:, None] * roots
    return np.asarray(scaled @ scaled.T)


def prior_body(mass: float) -> Vector:
    """Return a compact body at the frame's origin of which not much is known."""
    moment = 2.0 * mass * REACH**2
    return np.array([mass, 0.0, 0.0, 0.0, moment, 0.0, moment, 0.0, 0.0, moment])


def quantity_deviation(parameters: Vector, covariance: Matrix) -> Vector:
    """Return the standard deviations of mass, centre of mass and central inertia."""
    steps = 1e-6 * np.sqrt(np.diag(covariance))
    slopes = [
        payload_quantities(parameters + step) - payload_quantities(parameters - step)
        for step in np.diag(steps)
    ]
    jacobian = np.array(slopes).T / (2.0 * steps)
    return np.asarray(np.sqrt(np.einsum('ij,jk,ik->i', jacobian, covariance, jacobian)))

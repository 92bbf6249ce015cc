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
What the arm's own parameters are wrong by, beside a payload, from residuals of its model.

An identified model leaves errors of a percent or two of the efforts; the weight of a payload of
1 kg is not much more than that. But errors of the model are there before something is picked up,
and stay. So both are kept in one estimate,

.. math:: r = \tau - \hat\tau = Y_a\,\delta\beta + Y_p\,\varphi + \epsilon

in which :math:`\varphi` is exactly zero while the flange is empty: the residuals then show
:math:`\delta\beta` and its uncertainty, which is what is left of the errors when the payload
comes. Friction that is not known well is among :math:`\delta\beta`, with the same effect.

The information is kept as a square root (`SquareRootRls`) with the payload last. Its last ten
rows are then what is known of the payload whatever the arm's errors are,
:math:`R_p \varphi = z_p`.

The equations of a row are taken in one by one: `update` only queues them, `work` takes one in, so
that no single sample bears the cost of all. Whoever asks for a result gets that of all of them.

Noise of filtered rows is not independent from row to row: the deviations are enlarged by what
makes the sum of all rows count as many times as there are independent ones.

"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_samples import RATE_PER_CUTOFF
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.square_root_rls import SquareRootRls
from robot_dynamics_ros.core.identification.possible_bodies import SIZE

CORRELATED = float(np.sqrt(0.5 * RATE_PER_CUTOFF))
"""Factor of deviations: rows come so much (squared) oftener than their noise changes."""

FORGETTING = 0.9998
"""Of each equation; what was seen in all directions is remembered for a minute or two."""

EXTENT = 0.1
"""Of a body, on which the uncertainty of its centre of mass depends [m]."""

SHARE_ALONE = 1e-3
"""Part of the variances that parameters have by themselves, which makes them positive."""

WIDEST_PAYLOAD = np.array([10.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
"""Standard deviations of a payload of which nothing is known [kg, kg m, kg m^2]."""


class ArmErrors:
    """
    Errors of the arm's base parameters and the parameters of a payload.

    Parameters
    ----------
    covariance : ndarray, shape (rank, rank)
        Of the base parameters that the residuals are made with, see `parameter_uncertainty`.
    forgetting : float
        See `SquareRootRls`.

    Raises
    ------
    ConfigurationError
        If the covariance is not positive definite or the forgetting out of range.
    DimensionError, NonFiniteError
        If the covariance is not square or not finite.

    """

    def __init__(self, covariance: Matrix, forgetting: float = FORGETTING) -> None:
        rank = len(covariance)
        covariance = as_finite('covariance', covariance, (rank, rank))
        self.rank = rank
        widest = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        self._widest = np.concatenate([widest, WIDEST_PAYLOAD])
        self._waiting: deque[tuple[Vector, float, float]] = deque()
        self._rls = SquareRootRls(
            np.zeros(rank + SIZE),
            _joined(covariance, np.diag(WIDEST_PAYLOAD**2)),
            self._widest,
            forgetting,
        )
        self.is_loaded = False
        self._is_fresh = False
        self._estimate = np.zeros(rank + SIZE)

    def update(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> None:
        """
        Queue the equations of a row.

        Parameters
        ----------
        row : OnlineRow
            With columns of a payload.
        residual : ndarray, shape (nv,)
            Efforts that the arm's model does not explain [N m | N].
        deviation : ndarray, shape (nv,)
            Their standard deviations.
        use : ndarray of bool, shape (nv,)
            Which joints count.

        """
        columns = self._columns(row)
        for j in np.flatnonzero(use).tolist():
            self._waiting.append(
                (columns[j], float(residual[j]), CORRELATED * float(deviation[j]))
            )

    def work(self) -> bool:
        """Take in one of the equations that wait; return whether there was one."""
        if not self._waiting:
            return False
        self._rls.update(*self._waiting.popleft())
        self._is_fresh = False
        return True

    def finish(self) -> None:
        """Take in all equations that wait."""
        while self.work():
            pass

    def innovation(self, row: OnlineRow, residual: Vector) -> tuple[Vector, Vector]:
        """
        Return what residuals are beyond what is known, and how uncertain that is.

        Returns
        -------
        innovation : ndarray, shape (nv,)
            [N m | N]
        deviation : ndarray, shape (nv,)
            Standard deviation of what is known, without that of the row.

        """
        columns, estimate = self._columns(row), self._newest()
        image = self._rls.images(columns)
        variance = np.einsum('ij,ij->i', image, image)
        return residual - columns @ estimate, np.asarray(np.sqrt(variance))

    def images(self, row: OnlineRow) -> Matrix:
        """
        Return what the errors of the arm and the payload do to a row, shape (nv, n).

        In coordinates in which they are independent, with a variance of one.

        """
        self.finish()
        return self._rls.images(self._columns(row))

    def grasp(self, prior: Vector | None = None, deviation: Vector | None = None) -> None:
        """
        Begin to look for a payload, of which nothing is known unless it is said.

        Parameters
        ----------
        prior, deviation : ndarray, shape (10,), optional
            What is known of it.

        """
        spread = WIDEST_PAYLOAD if deviation is None else deviation
        payload = np.zeros(SIZE) if prior is None else prior
        self._restart(payload, spread)
        self.is_loaded = True

    def release(self) -> None:
        """Let the payload be exactly zero from now on; what is known of the arm stays."""
        self._restart(np.zeros(SIZE), WIDEST_PAYLOAD)
        self.is_loaded = False

    def open(self, columns: NDArray[np.intp], deviations: Vector) -> None:
        """Let some errors of the arm be others than they were, by so much."""
        covariance = self.covariance
        covariance[columns, columns] += deviations**2
        self._rls.restart(self._rls.estimate, covariance)
        self._is_fresh = False

    @property
    def covariance(self) -> Matrix:
        """Return the covariance of the arm's errors and of the payload, shape (n, n)."""
        self.finish()
        return self._rls.covariance

    @property
    def errors(self) -> Vector:
        """Return the errors of the base parameters, shape (rank,)."""
        return self._newest()[: self.rank]

    @property
    def payload(self) -> Vector:
        """Return the ten parameters of the payload, which may be those of no possible body."""
        return self._newest()[self.rank :]

    @property
    def payload_root(self) -> tuple[Matrix, Vector]:
        """Return `R` and `z` with ``R @ payload == z``, shapes (10, 10) and (10,)."""
        self.finish()
        root, right = self._rls.information_root
        return root[self.rank :, self.rank :], right[self.rank :]

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Return everything that `restore` needs."""
        self.finish()
        return {**self._rls.state(), 'is_loaded': np.array(float(self.is_loaded))}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """
        Go on from a state.

        Raises
        ------
        ConfigurationError, DimensionError, NonFiniteError
            If it is not one of this arm.

        """
        self._rls.restore(state)
        self._waiting.clear()
        self.is_loaded = bool(state['is_loaded'])
        self._is_fresh = False

    def _restart(self, payload: Vector, spread: Vector) -> None:
        arm = self.covariance[: self.rank, : self.rank]
        estimate = np.concatenate([self._rls.estimate[: self.rank], payload])
        self._rls.restart(estimate, _joined(arm, np.diag(spread**2)))
        self._is_fresh = False

    def _newest(self) -> Vector:
        """Return errors and payload after all equations."""
        self.finish()
        if not self._is_fresh:
            self._estimate, self._is_fresh = self._rls.estimate, True
        return self._estimate

    def _columns(self, row: OnlineRow) -> Matrix:
        """Return the columns of arm and payload; those of a payload that is not there are zero."""
        columns = np.zeros((len(row.tau), self.rank + SIZE))
        columns[:, : self.rank] = row.regressor
        if self.is_loaded:
            columns[:, self.rank :] = row.payload
        return columns


def parameter_uncertainty(
    model: IdentificationModel, parameters: Vector, relative: float = 0.03
) -> Matrix:
    """
    Return the covariance of base parameters whose parts are wrong by some part of themselves.

    What an identification says of its own precision counts noise only; a model that leaves a
    percent of the efforts is wrong by more, somewhere.

    Parameters
    ----------
    model : IdentificationModel
        The arm.
    parameters : ndarray, shape (p,)
        All parameters.
    relative : float
        Standard deviation of each parameter over the largest of its kind in the same body or
        drive; first moments count as those of a distance of `EXTENT` at least.

    Raises
    ------
    ConfigurationError
        If the part is not positive.
    DimensionError, NonFiniteError
        If there are not `p` finite parameters.

    """
    if not 0.0 < relative < np.inf:
        raise ConfigurationError(f'relative uncertainty is {relative}, expected more than 0')
    parameters = as_finite('parameters', parameters, (len(model.names),))
    size = np.abs(parameters)
    n = model.n_inertial
    bodies = size[:n].reshape(-1, SIZE)
    moment = np.maximum(bodies[:, 1:4].max(axis=1), EXTENT * bodies[:, 0])
    bodies[:, 1:4] = moment[:, None]
    bodies[:, 4:] = bodies[:, 4:].max(axis=1, keepdims=True)
    for k, term in enumerate(model.terms, start=n):
        if term.kind == 'offset':
            alike = [
                size[i]
                for i, other in enumerate(model.terms, start=n)
                if other.kind == 'coulomb' and other.weights == term.weights
            ]
            size[k] = max([size[k], *alike])
    spread = model.base.projection * (relative * size)
    covariance: Matrix = spread @ spread.T
    variances = np.diag(covariance)
    return covariance + np.diag(SHARE_ALONE * np.maximum(variances, 1e-4 * variances.max()))


def _joined(arm: Matrix, payload: Matrix) -> Matrix:
    rank = len(arm)
    joined = np.zeros((rank + SIZE, rank + SIZE))
    joined[:rank, :rank] = arm
    joined[rank:, rank:] = payload
    return joined

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
Base parameters: the combinations of parameters that efforts depend on.

The regressor :math:`Y` of a robot has columns that are zero or combinations of others, whatever
the motion. With independent columns :math:`W_b` of the stacked regressor, and the others
:math:`W_d = W_b B`,

.. math:: W \pi = W_b \, (\pi_b + B \, \pi_d) = W_b \, \beta

so that only the base parameters :math:`\beta = K \pi` can ever be told from efforts. The rank is
found by a QR factorisation with column pivoting of :math:`W` with columns of unit length. The
columns that stay are the first independent ones in the order of the parameters, as in the
symbolic rules: parameters of a link are added to those of links nearer to the base.

`W` may be replaced by the triangular factor :math:`R` of its QR factorisation, which has the same
dependencies.

References
----------
.. [1] M. Gautier, "Numerical calculation of the base inertial parameters of robots",
   J. Robotic Systems 8(4), 1991.
.. [2] W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002, section 9.4
   and appendix 5.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from robot_dynamics_ros.core.arrays import as_finite, as_matrix, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics import joint_torque_regressor_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.identification.parameter_names import inertial_parameter_names
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel

STRUCTURAL_TOLERANCE = 1e-9
"""Columns closer to others than this, by length, count as combinations of them."""

NEGLIGIBLE = 1e-10
"""Smaller coefficients of a combination are rounding errors and become zero."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """
    The combinations of parameters that efforts depend on.

    Attributes
    ----------
    names : tuple of str
        Names of all `p` parameters, the standard ones.
    independent : tuple of int
        The parameter that leads each combination, in order; there are `rank` of them.
    projection : ndarray, shape (rank, p)
        ``projection @ standard`` are the base parameters; the columns of the leading parameters
        are those of the unit matrix.
    tolerance : float
        With which the rank was decided.
    condition : float
        Condition number of the independent columns, scaled to unit length.

    """

    names: tuple[str, ...]
    independent: tuple[int, ...]
    projection: Matrix
    tolerance: float
    condition: float

    @property
    def rank(self) -> int:
        """Return the number of base parameters."""
        return len(self.independent)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Return the name of the leading parameter of each combination."""
        return tuple(self.names[k] for k in self.independent)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Return the parameters that no effort depends on."""
        used = np.any(self.projection != 0.0, axis=0).tolist()
        return tuple(name for name, is_used in zip(self.names, used) if not is_used)

    @property
    def alone(self) -> tuple[str, ...]:
        """Return the parameters that efforts determine by themselves, in no combination."""
        single = np.count_nonzero(self.projection, axis=1) == 1
        return tuple(name for name, is_single in zip(self.base_names, single) if is_single)

    def to_base(self, standard: Any) -> Vector:
        """
        Return the base parameters of standard ones, shape (rank,).

        Raises
        ------
        DimensionError
            If there are not `p` of them.
        NonFiniteError
            If one is not finite.

        """
        standard = as_finite('standard parameters', standard, (len(self.names),))
        base: Vector = self.projection @ standard
        return base

    def nearest_standard(self, base: Any, prior: Any) -> Vector:
        """
        Return the standard parameters with given base parameters that are nearest to others.

        Nearest in the sum of squares: it is a start for computations, and may be a set of bodies
        that cannot exist.

        Parameters
        ----------
        base : array_like, shape (rank,)
            Base parameters.
        prior : array_like, shape (p,)
            Standard parameters to stay near to.

        Raises
        ------
        DimensionError
            If an array has another shape.
        NonFiniteError
            If an entry is not finite.

        """
        base = as_finite('base parameters', base, (self.rank,))
        prior = as_finite('prior', prior, (len(self.names),))
        step = np.linalg.lstsq(self.projection, base - self.projection @ prior, rcond=None)[0]
        nearest: Vector = prior + step
        return nearest

    def formulas(self, digits: int = 6) -> tuple[str, ...]:
        """Return each combination as text, as in ``arm/Izz + 0.25 hand/m - hand/hx``."""
        return tuple(self._formula(row, lead, digits) for row, lead in self._rows())

    def _rows(self) -> list[tuple[Vector, int]]:
        return list(zip(self.projection, self.independent))

    def _formula(self, row: Vector, lead: int, digits: int) -> str:
        text = self.names[lead]
        for k in np.flatnonzero(row):
            if k != lead:
                size = f'{abs(row[k]):.{digits}g}'
                factor = '' if size == '1' else f'{size} '
                text += f' {"-" if row[k] < 0.0 else "+"} {factor}{self.names[k]}'
        return text


def base_parameters(
    regressor: Any, names: Sequence[str], tolerance: float = STRUCTURAL_TOLERANCE
) -> BaseParameters:
    """
    Find the base parameters of a stacked regressor.

    Parameters
    ----------
    regressor : array_like, shape (n_rows, p)
        Stacked regressor, or the triangular factor of its QR factorisation.
    names : sequence of str
        Name of each of the `p` parameters.
    tolerance : float
        Columns closer to others than this, relative to their length, count as combinations;
        between 0 and 1. What is found depends on the data: a motion that does not excite a
        parameter hides it.

    Raises
    ------
    DimensionError
        If there are not as many names as columns.
    NonFiniteError
        If an entry is not finite.
    ConfigurationError
        If the tolerance is not between 0 and 1.

    """
    regressor = as_matrix('regressor', regressor, (-1, -1))
    regressor = as_finite('regressor', regressor, regressor.shape)
    count = regressor.shape[1]
    if len(names) != count:
        raise DimensionError('names', (count,), (len(names),))
    if not 0.0 < tolerance < 1.0:
        raise ConfigurationError(f'tolerance is {tolerance:g}, expected between 0 and 1')
    lengths = np.linalg.norm(regressor, axis=0)
    present = np.flatnonzero(lengths > tolerance * lengths.max(initial=0.0))
    scaled = regressor[:, present] / lengths[present]
    if len(scaled) > len(present) > 0:
        scaled = np.linalg.qr(scaled, mode='r')  # it has the same combinations, in fewer rows
    leading = _independent_columns(scaled, tolerance)
    projection = np.zeros((len(leading), count))
    condition = 1.0
    if len(leading):
        scaled_map, condition = _combinations(scaled, leading)
        chosen = present[leading]
        projection[:, present] = scaled_map * lengths[present] / lengths[chosen][:, None]
        projection[np.abs(projection) < NEGLIGIBLE] = 0.0
        projection[:, chosen] = np.eye(len(chosen))
    return BaseParameters(
        names=tuple(names),
        independent=tuple(int(k) for k in present[leading]),
        projection=frozen(projection),
        tolerance=tolerance,
        condition=condition,
    )


def structural_base_parameters(
    model: RobotModel, tolerance: float = STRUCTURAL_TOLERANCE, samples: int = 0, seed: int = 0
) -> BaseParameters:
    """
    Find the base inertial parameters of a robot, whatever its motion.

    Parameters
    ----------
    model : RobotModel
        The robot.
    tolerance : float
        See `base_parameters`.
    samples : int
        Random states to look at; by default enough to have five rows for each parameter.
    seed : int
        Of the random states; position limits are not looked at.

    Raises
    ------
    ConfigurationError
        If the tolerance is not between 0 and 1.

    """
    count = 10 * model.nbodies
    samples = samples or max(50, -(-5 * count // max(1, model.nv)))
    rng = np.random.default_rng(seed)
    q = random_positions(model, samples, rng)
    v, a = rng.normal(size=(2, samples, model.nv))
    regressor = joint_torque_regressor_batch(model, q, v, 3.0 * a)
    names = inertial_parameter_names(model)
    return base_parameters(regressor.reshape(-1, count), names, tolerance)


def random_positions(model: RobotModel, samples: int, rng: np.random.Generator) -> Matrix:
    """
    Draw positions without regard to limits: angles in [-pi, pi], lengths in [-1, 1] m.

    Returns
    -------
    q : ndarray, shape (samples, nq)
        Positions; the orientation of a floating joint is uniform.

    """
    q = rng.uniform(-1.0, 1.0, (samples, model.nq))
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        if joint.type in (JointType.REVOLUTE, JointType.CONTINUOUS):
            q[:, joint.q_index] *= np.pi
        elif joint.type is JointType.PLANAR:
            q[:, joint.q_index + 2] *= np.pi
        elif joint.type is JointType.FLOATING:
            turn = rng.normal(size=(samples, 4))
            turn /= np.linalg.norm(turn, axis=1, keepdims=True)
            q[:, joint.q_index + 3 : joint.q_index + 7] = turn
    return q


def _independent_columns(scaled: Matrix, tolerance: float) -> Any:
    """Return the first independent columns; those of the pivoting if the order hides some."""
    if not scaled.size:
        return np.zeros(0, dtype=int)
    diagonal, pivots = qr(scaled, mode='r', pivoting=True)
    sizes = np.abs(np.diag(diagonal))
    rank = int(np.count_nonzero(sizes > tolerance * sizes[0]))
    chosen = _first_independent(scaled, tolerance)
    return np.array(chosen) if len(chosen) == rank else np.sort(pivots[:rank])


def _first_independent(scaled: Matrix, tolerance: float) -> list[int]:
    """Return the columns with a part outside of the span of those before (Gram-Schmidt)."""
    span = np.zeros((len(scaled), 0))
    chosen: list[int] = []
    for k, column in enumerate(scaled.T):
        rest = column - span @ (span.T @ column)
        rest -= span @ (span.T @ rest)  # once more: the first pass leaves rounding errors
        size = float(np.linalg.norm(rest))
        if size > tolerance:
            chosen.append(k)
            span = np.column_stack([span, rest / size])
    return chosen


def _combinations(scaled: Matrix, leading: Any) -> tuple[Matrix, float]:
    """Return the map of all columns to the leading ones, and the condition of these."""
    orthogonal, triangle = np.linalg.qr(scaled[:, leading])
    sizes = np.linalg.svd(triangle, compute_uv=False)
    combined: Matrix = solve_triangular(triangle, orthogonal.T @ scaled)
    return combined, float(sizes[0] / sizes[-1])

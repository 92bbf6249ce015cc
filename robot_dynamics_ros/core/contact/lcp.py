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
The linear complementarity problem.

Find :math:`z \ge 0` and :math:`w = M z + q \ge 0` with :math:`z^T w = 0`.

Lemke's method adds the column :math:`e\,z_0` that makes the problem trivial, and pivots until
:math:`z_0` leaves: the variable whose complement left last comes in, the ratio test says which one
leaves. Ties are broken lexicographically, so that it does not cycle. If a column has no positive
entry the method ends on a ray: for a copositive-plus matrix, such as that of a frictionless
contact problem, then there is no solution at all.

References
----------
.. [1] C. E. Lemke, "Bimatrix Equilibrium Points and Mathematical Programming", Management Science
   11(7), 1965.
.. [2] R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem*, 2009, section
   4.4.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.exceptions import ModelError

_PIVOT = 1e-12


class RayTerminationError(ModelError):
    """
    Lemke's method ended on a ray.

    Attributes
    ----------
    pivots : int
        Number of pivots made.

    """

    def __init__(self, pivots: int) -> None:
        super().__init__(
            f"Lemke's method ended on a ray after {pivots} pivots: the problem has no solution if "
            'its matrix is copositive plus; otherwise none was found'
        )
        self.pivots = pivots


def solve_lcp(
    matrix: Any, vector: Any, *, most_pivots: int | None = None
) -> tuple[Vector, Vector]:
    """
    Solve a linear complementarity problem with Lemke's method.

    Parameters
    ----------
    matrix : array_like, shape (n, n)
        The matrix `M`.
    vector : array_like, shape (n,)
        The vector `q`.
    most_pivots : int, optional
        Largest number of pivots; ``50 + 10 n`` by default.

    Returns
    -------
    z, w : ndarray, shape (n,)
        The solution and its complement, both >= 0, one of each pair exactly zero.

    Raises
    ------
    DimensionError
        If a shape is wrong.
    NonFiniteError
        If a number is not finite.
    RayTerminationError
        If the method ends on a ray, or does not end.

    Examples
    --------
    >>> z, w = solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    >>> z.round(9).tolist(), w.tolist()
    ([1.333333333, 2.333333333], [0.0, 0.0])

    """
    q = as_finite('q', vector, (np.size(vector),))
    n = len(q)
    m = as_finite('M', matrix, (n, n))
    if n == 0 or (q >= 0.0).all():
        return np.zeros(n), q.copy()
    # columns w, z, z0, right-hand side; the first n also serve the lexicographic ratio test
    table = np.hstack((np.eye(n), -m, -np.ones((n, 1)), q[:, None]))
    basis = list(range(n))
    row = int(np.argmin(q))
    entering = 2 * n
    pivots = 0
    while True:
        leaving = basis[row]
        table[row] /= table[row, entering]
        column = table[:, entering].copy()
        column[row] = 0.0
        table -= np.outer(column, table[row])
        basis[row] = entering
        pivots += 1
        if leaving == 2 * n:
            break
        entering = leaving + n if leaving < n else leaving - n
        if pivots >= (50 + 10 * n if most_pivots is None else most_pivots):
            raise RayTerminationError(pivots)
        row = _leaving_row(table, basis, entering, n, pivots)
    return _solution(m, q, basis, table)


def _leaving_row(table: Vector, basis: list[int], entering: int, n: int, pivots: int) -> int:
    column = table[:, entering]
    rows = np.flatnonzero(column > _PIVOT * max(1.0, float(np.abs(column).max())))
    if not len(rows):
        raise RayTerminationError(pivots)
    for key in (2 * n + 1, *range(n)):
        ratios = table[rows, key] / column[rows]
        if key == 2 * n + 1:
            # z0 leaves as soon as it may
            for r, ratio in zip(rows, ratios):
                if basis[r] == 2 * n and ratio <= ratios.min() + 1e-12 * (1.0 + abs(ratio)):
                    return int(r)
        rows = rows[ratios <= ratios.min() + 1e-13 * (1.0 + np.abs(ratios.min()))]
        if len(rows) == 1:
            break
    return int(rows[0])


def _solution(m: Vector, q: Vector, basis: list[int], table: Vector) -> tuple[Vector, Vector]:
    """Return the solution of the final basis, solved afresh from the data."""
    n = len(q)
    active = [variable - n for variable in basis if n <= variable < 2 * n]
    z = np.zeros(n)
    try:
        z[active] = np.linalg.solve(m[np.ix_(active, active)], -q[active])
    except np.linalg.LinAlgError:
        for row, variable in enumerate(basis):
            if n <= variable < 2 * n:
                z[variable - n] = table[row, -1]
    z = np.maximum(z, 0.0)
    w = m @ z + q
    w[active] = 0.0
    return z, np.maximum(w, 0.0)

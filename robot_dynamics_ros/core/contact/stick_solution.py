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
The solution in which every contact sticks, by one linear system in the impulses.

With the factor :math:`M = L L^T` and :math:`W = L^{-1} J^T` the velocity of the contacts is
:math:`u = u_{free} + W^T W \lambda`. Where that vanishes for impulses inside all cones of
friction, nothing else need be looked for. It is so in most steps of a robot that stands or presses
with few contacts, and takes half of the time of the general method. Contacts that determine each
other, slide or open are left to that.

References
----------
.. [1] E. Delassus, "Mémoire sur la théorie des liaisons finies unilatérales", Annales
   scientifiques de l'École Normale Supérieure 34, 1917.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.contact_layout import (
    CHANGE,
    DELASSUS,
    HALF,
    LAMBDA,
    MU,
    REFERENCE,
    REMAINDER,
    SCRATCH,
)

_INDEPENDENT = 1e-8
"""Least part of its mobility that a row keeps when those before it are held."""

_IMMOBILE = 1e-14
"""Mobility of a row, as part of the largest one, that counts as none: out of a robot's plane."""


@piece
def _write_delassus(rows: int, vectors: Matrix, small: Matrix) -> bool:
    """Write the lower factor of the Delassus matrix; return whether the rows are independent."""
    n = vectors.shape[1]
    largest = 0.0
    for r in range(rows):
        for c in range(r + 1):
            total = 0.0
            for j in range(n):
                total += vectors[HALF + r, j] * vectors[HALF + c, j]
            small[DELASSUS + r, c] = total
        largest = max(largest, small[DELASSUS + r, r])
    for r in range(rows):
        whole = small[DELASSUS + r, r]
        if whole <= _IMMOBILE * largest:
            for c in range(r):
                small[DELASSUS + r, c] = 0.0
            small[DELASSUS + r, r] = 0.0
            continue
        pivot = whole
        for c in range(r):
            rest = small[DELASSUS + r, c]
            for k in range(c):
                rest -= small[DELASSUS + r, k] * small[DELASSUS + c, k]
            rest *= small[DELASSUS + c, c]
            small[DELASSUS + r, c] = rest
            pivot -= rest * rest
        if not pivot > _INDEPENDENT * whole:
            return False
        small[DELASSUS + r, r] = 1.0 / pivot**0.5
    return True


@piece
def _solve_delassus(rows: int, small: Matrix) -> None:
    """Replace the velocities in the row `LAMBDA` by the impulses that take them away."""
    for r in range(rows):
        rest = -small[LAMBDA, r]
        for c in range(r):
            rest -= small[DELASSUS + r, c] * small[LAMBDA, c]
        small[LAMBDA, r] = rest * small[DELASSUS + r, r]
    for r in range(rows - 1, -1, -1):
        rest = small[LAMBDA, r] * small[DELASSUS + r, r]
        small[LAMBDA, r] = rest
        for c in range(r):
            small[LAMBDA, c] -= small[DELASSUS + r, c] * rest


@piece
def stick_solution(
    law: Matrix, count: int, impulse: Matrix, factor: Matrix, vectors: Matrix, small: Matrix
) -> bool:
    """
    Write the impulses and the change of the velocity with which all contacts stick.

    Parameters
    ----------
    law : ndarray, shape (>= count, LAW_WIDTH)
        Laws of the contacts, with the velocities at the first guess.
    count : int
        Number of contacts, up to `DIRECT`.
    impulse : ndarray, shape (>= count, 3)
        Out: the impulses [N s].
    factor : ndarray, shape (nv, nv)
        Factor of the mass matrix, see `cholesky`.
    vectors : ndarray, shape (VECTORS, nv)
        In: what is missing in the momentum balance at the first guess, `REMAINDER`, and the rows
        `HALF`; out: the change of the velocity, `CHANGE`.
    small : ndarray, shape SMALL_SHAPE
        Scratch.

    Returns
    -------
    holds : bool
        Whether there is one such solution and friction can hold it; if not, nothing is written to
        `impulse` and `CHANGE`.

    """
    n = vectors.shape[1]
    rows = 3 * count
    if not _write_delassus(rows, vectors, small):
        return False
    half = vectors[SCRATCH]
    for i in range(n):
        rest = -vectors[REMAINDER, i]
        for k in range(i):
            rest -= factor[i, k] * half[k]
        half[i] = rest * factor[i, i]
    for r in range(rows):
        total = law[r // 3, REFERENCE + r % 3]
        for j in range(n):
            total += vectors[HALF + r, j] * half[j]
        small[LAMBDA, r] = total
    _solve_delassus(rows, small)
    for c in range(count):
        normal = small[LAMBDA, 3 * c]
        x = small[LAMBDA, 3 * c + 1]
        y = small[LAMBDA, 3 * c + 2]
        bound = law[c, MU] * normal
        if not (normal > 0.0 and x * x + y * y <= bound * bound):
            return False
    for c in range(count):
        for k in range(3):
            impulse[c, k] = small[LAMBDA, 3 * c + k]
            for j in range(n):
                half[j] += small[LAMBDA, 3 * c + k] * vectors[HALF + 3 * c + k, j]
    for i in range(n - 1, -1, -1):
        rest = half[i] * factor[i, i]
        vectors[CHANGE, i] = rest
        for k in range(i):
            half[k] -= factor[i, k] * rest
    return True

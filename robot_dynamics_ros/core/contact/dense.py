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

"""Small dense linear systems inside compiled kernels."""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part

_PIVOT_TOLERANCE = 1e-14


@part
def cholesky(matrix: Matrix, factor: Matrix) -> int:
    """
    Write the lower factor of a symmetric matrix, on its diagonal the inverses of the entries.

    Return the first row without a positive pivot, or -1.

    """
    n = matrix.shape[0]
    for i in range(n):
        for j in range(i):
            rest = matrix[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = rest * factor[j, j]
        pivot = matrix[i, i]
        for k in range(i):
            pivot -= factor[i, k] * factor[i, k]
        if not pivot > _PIVOT_TOLERANCE * matrix[i, i]:
            return i
        factor[i, i] = 1.0 / math.sqrt(pivot)
    return -1


@part
def cholesky_solve(factor: Matrix, x: Vector) -> None:
    """Replace `x` by the solution of the system whose factor is given."""
    n = x.size
    for i in range(n):
        rest = x[i]
        for k in range(i):
            rest -= factor[i, k] * x[k]
        x[i] = rest * factor[i, i]
    for i in range(n - 1, -1, -1):
        rest = x[i] * factor[i, i]
        x[i] = rest
        for k in range(i):
            x[k] -= factor[i, k] * rest


@part
def mobility(factor: Matrix, row: Vector, scratch: Vector) -> float:
    """Return ``row M^-1 row^T`` from the factor of `M`."""
    n = row.size
    total = 0.0
    for i in range(n):
        rest = row[i]
        for k in range(i):
            rest -= factor[i, k] * scratch[k]
        rest *= factor[i, i]
        scratch[i] = rest
        total += rest * rest
    return total


@part
def lu_factor(matrix: Matrix, pivots: Vector) -> bool:
    """
    Replace `matrix` by its factors, by elimination with partial pivoting; `pivots` are rows.

    The lower factor has ones on its diagonal, the upper one the inverses of its entries. Return
    whether no pivot vanished.

    """
    n = matrix.shape[0]
    for k in range(n):
        best = k
        largest = abs(matrix[k, k])
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > largest:
                largest = abs(matrix[i, k])
                best = i
        if not largest > 0.0:
            return False
        pivots[k] = best
        if best != k:
            for j in range(n):
                held = matrix[k, j]
                matrix[k, j] = matrix[best, j]
                matrix[best, j] = held
        inverse = 1.0 / matrix[k, k]
        matrix[k, k] = inverse
        for i in range(k + 1, n):
            factor = matrix[i, k] * inverse
            matrix[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
    return True


@part
def lu_solve(factors: Matrix, pivots: Vector, x: Vector) -> None:
    """Replace `x` by the solution of the system whose factors are given."""
    n = x.size
    for k in range(n):
        best = int(pivots[k])
        if best != k:
            held = x[k]
            x[k] = x[best]
            x[best] = held
    for i in range(n):
        rest = x[i]
        for j in range(i):
            rest -= factors[i, j] * x[j]
        x[i] = rest
    for i in range(n - 1, -1, -1):
        rest = x[i]
        for j in range(i + 1, n):
            rest -= factors[i, j] * x[j]
        x[i] = rest * factors[i, i]

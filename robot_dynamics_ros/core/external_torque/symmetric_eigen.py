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

"""
Eigenvalues and eigenvectors of a small symmetric matrix by Jacobi's rotations, in place.

Each rotation makes one pair of entries beside the diagonal zero; sweeps over all pairs converge
quadratically. Small eigenvalues come out as exactly as large ones for matrices that are scaled
well, and nothing is allocated.

References
----------
.. [1] G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th ed., 2013, section 8.5.

"""

from __future__ import annotations

from math import sqrt

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.jit import inner, kernel

_SWEEPS = 12


@inner
def _rotate(a: Matrix, vectors: Matrix, p: int, r: int) -> None:
    """Make ``a[p, r]`` zero."""
    n = a.shape[0]
    theta = 0.5 * (a[r, r] - a[p, p]) / a[p, r]
    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for k in range(n):
        x = a[k, p]
        y = a[k, r]
        a[k, p] = c * x - s * y
        a[k, r] = s * x + c * y
    for k in range(n):
        x = a[p, k]
        y = a[r, k]
        a[p, k] = c * x - s * y
        a[r, k] = s * x + c * y
        x = vectors[k, p]
        y = vectors[k, r]
        vectors[k, p] = c * x - s * y
        vectors[k, r] = s * x + c * y


@inner
def diagonalize(a: Matrix, vectors: Matrix) -> None:
    """Leave the eigenvalues on the diagonal of `a`, and write the vectors as columns."""
    n = a.shape[0]
    for i in range(n):
        for k in range(n):
            vectors[i, k] = 1.0 if i == k else 0.0
    for _ in range(_SWEEPS):
        beside = 0.0
        size = 0.0
        for i in range(n):
            size += a[i, i] * a[i, i]
            for k in range(i + 1, n):
                beside += a[i, k] * a[i, k]
        if not beside > 1e-28 * size:
            break
        for p in range(n - 1):
            for r in range(p + 1, n):
                if a[p, r] != 0.0:
                    _rotate(a, vectors, p, r)


@kernel
def symmetric_eigen_kernel(a: Matrix, vectors: Matrix) -> None:
    """Leave the eigenvalues on the diagonal of `a`, and write the vectors as columns."""
    diagonalize(a, vectors)

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
The compiled part of `square_root_rls`: rotations of a root of the information, and solutions.

A root is upper triangular, with the right-hand side as its last column: shape (p, p + 1).

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.jit import inner, kernel


@kernel
def square_root_update_kernel(
    root: Matrix,
    columns: Vector,
    widest: Vector,
    value: float,
    deviation: float,
    forgetting: float,
    row: Vector,
    image: Vector,
) -> None:
    """Forget along a row, and turn it into the triangle; `row` and `image` are for work."""
    _weigh(columns, widest, value, deviation, row)
    if forgetting < 1.0:
        kept = _kept_part(root, row, image, forgetting)
        if kept < 1.0:
            _forget(root, image, np.sqrt(kept))
    rotate_in(root, row, 0)


@kernel
def fading_update_kernel(
    root: Matrix,
    columns: Vector,
    widest: Vector,
    value: float,
    deviation: float,
    forgetting: float,
    row: Vector,
    estimate: Vector,
) -> None:
    """Let all information fade towards the unit matrix around the estimate; take in a row."""
    if forgetting < 1.0:
        back_substitute(root, estimate)
        fade(root, row, estimate, forgetting)
    _weigh(columns, widest, value, deviation, row)
    rotate_in(root, row, 0)


@kernel
def back_substitution_kernel(root: Matrix, solution: Vector) -> None:
    """Solve for the parameters that root and right-hand side stand for."""
    back_substitute(root, solution)


@kernel
def images_kernel(root: Matrix, widest: Vector, rows: Matrix, images: Matrix) -> None:
    """Write :math:`R^{-T} y` of each row `y`, whose square is its variance."""
    size = len(root)
    for j in range(len(images)):
        for i in range(size):
            images[j, i] = rows[j, i] * widest[i]
    for i in range(size):  # outside: the root is the larger one
        for j in range(len(images)):
            images[j, i] /= root[i, i]
            known = images[j, i]
            if known != 0.0:
                _subtract(images[j, i + 1 :], root[i, i + 1 : size], known)


@inner
def _weigh(columns: Vector, widest: Vector, value: float, deviation: float, row: Vector) -> None:
    """Write an equation in units of its deviation, for parameters in units of the widest."""
    size = len(columns)
    for i in range(size):
        row[i] = columns[i] * widest[i] / deviation
    row[size] = value / deviation


@inner
def fade(root: Matrix, row: Vector, estimate: Vector, forgetting: float) -> None:
    """Let all information fade towards the unit matrix around the estimate."""
    size = len(estimate)
    kept, new = np.sqrt(forgetting), np.sqrt(1.0 - forgetting)
    for i in range(size):
        for m in range(i, size + 1):
            root[i, m] *= kept
    for i in range(size):
        for m in range(size + 1):
            row[m] = 0.0
        row[i], row[size] = new, new * estimate[i]
        rotate_in(root, row, i)


@inner
def _turn(above: Vector, below: Vector, cosine: float, sine: float) -> None:
    """Turn two rows against each other."""
    for m in range(len(above)):
        first, second = above[m], below[m]
        above[m] = cosine * first + sine * second
        below[m] = cosine * second - sine * first


@inner
def _subtract(row: Vector, other: Vector, factor: float) -> None:
    for m in range(len(row)):
        row[m] -= factor * other[m]


@inner
def _product(row: Vector, other: Vector) -> float:
    """Return the sum of products, as four sums at a time."""
    count = len(row) // 4
    sums0, sums1, sums2, sums3 = 0.0, 0.0, 0.0, 0.0
    for m in range(count):
        sums0 += row[4 * m] * other[4 * m]
        sums1 += row[4 * m + 1] * other[4 * m + 1]
        sums2 += row[4 * m + 2] * other[4 * m + 2]
        sums3 += row[4 * m + 3] * other[4 * m + 3]
    for m in range(4 * count, len(row)):
        sums0 += row[m] * other[m]
    return (sums0 + sums1) + (sums2 + sums3)


@inner
def rotate_in(root: Matrix, row: Vector, first: int) -> None:
    """Turn a row, zero before `first`, into the triangle; the row is used up."""
    for k in range(first, len(root)):
        radius = np.sqrt(root[k, k] * root[k, k] + row[k] * row[k])
        if row[k] != 0.0 and radius > 0.0:
            _turn(root[k, k:], row[k:], root[k, k] / radius, row[k] / radius)


@inner
def back_substitute(root: Matrix, solution: Vector) -> None:
    size = len(solution)
    for i in range(size - 1, -1, -1):
        known = _product(root[i, i + 1 : size], solution[i + 1 :])
        solution[i] = (root[i, size] - known) / root[i, i]


@inner
def _kept_part(root: Matrix, row: Vector, image: Vector, forgetting: float) -> float:
    """Return which part of the information along the row may be kept; leave R y in `image`."""
    size = len(image)
    variance, squares = 0.0, 0.0
    for i in range(size):
        image[i] = row[i]
        squares += row[i] * row[i]
    for i in range(size):  # y^T P y = |R^-T y|^2
        known = image[i] / root[i, i]
        variance += known * known
        if known != 0.0:
            _subtract(image[i + 1 :], root[i, i + 1 : size], known)
    information = 0.0
    for i in range(size):
        image[i] = _product(root[i, i:size], row[i:size])
        information += image[i] * image[i]
    if squares <= variance or information <= 0.0:
        return 1.0
    growth = min(
        (1.0 - forgetting) / (forgetting * information), (squares - variance) / squares**2
    )
    return 1.0 / (1.0 + growth * information)


@inner
def _forget(root: Matrix, image: Vector, factor: float) -> None:
    """Multiply the root along `image` by a factor."""
    size = len(image)
    for k in range(size - 1, 0, -1):  # image to the first axis: the root becomes Hessenberg
        radius = np.sqrt(image[k - 1] * image[k - 1] + image[k] * image[k])
        if radius > 0.0:
            _turn(root[k - 1, k - 1 :], root[k, k - 1 :], image[k - 1] / radius, image[k] / radius)
            image[k - 1] = radius
    for m in range(size + 1):
        root[0, m] *= factor
    for k in range(size - 1):
        radius = np.sqrt(root[k, k] * root[k, k] + root[k + 1, k] * root[k + 1, k])
        if radius > 0.0:
            _turn(root[k, k:], root[k + 1, k:], root[k, k] / radius, root[k + 1, k] / radius)
            root[k + 1, k] = 0.0

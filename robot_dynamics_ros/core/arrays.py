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

"""Array aliases and the one check of shapes at the public door of core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError

Vector = NDArray[np.float64]
"""One-dimensional float64 array."""

Matrix = NDArray[np.float64]
"""Float64 array of two or more dimensions."""

_FLOAT64 = np.dtype(np.float64)


def as_vector(name: str, value: Any, size: int) -> Vector:
    """
    Return `value` as a contiguous, writable float64 vector with `size` entries.

    An array that already is one is returned as it is, without a copy. Numbers are not looked at
    here.

    Parameters
    ----------
    name : str
        Name of the argument, for the error message.
    value : array_like, shape (size,)
        The vector.
    size : int
        Wanted number of entries.

    Raises
    ------
    DimensionError
        If the shape is not ``(size,)``.

    """
    if (
        type(value) is np.ndarray
        and value.dtype is _FLOAT64
        and value.ndim == 1
        and len(value) == size
        and value.flags.carray
    ):
        return value
    return as_array(name, value, (size,))


def as_matrix(name: str, value: Any, shape: tuple[int, ...]) -> Matrix:
    """
    Return `value` as a contiguous, writable float64 array of the given shape.

    -1 leaves an extent free.

    Raises
    ------
    DimensionError
        If the shape is another one.

    """
    if -1 in shape:
        got = np.shape(value)
        if len(got) == len(shape):
            shape = tuple(g if s == -1 else s for g, s in zip(got, shape))
    return as_array(name, value, shape)


def as_array(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """
    Return `value` as a contiguous, writable float64 array of exactly this shape.

    Raises
    ------
    DimensionError
        If the shape is another one.

    """
    if (
        type(value) is np.ndarray
        and value.dtype is _FLOAT64
        and value.shape == shape
        and value.flags.carray
    ):
        return value
    array = np.array(value, dtype=np.float64, order='C')
    if array.shape != shape:
        raise DimensionError(name, shape, array.shape)
    return array


def as_finite(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """
    Return `value` as by `as_array`, with every entry finite.

    Raises
    ------
    DimensionError
        If the shape is another one.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    array = as_array(name, value, shape)
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        raise NonFiniteError(name, f' (entry {", ".join(map(str, where))})')
    return array


def frozen(value: Any) -> NDArray[np.float64]:
    """Return a read-only float64 copy of `value`."""
    array = np.array(value, dtype=np.float64, order='C')
    array.setflags(write=False)
    return array

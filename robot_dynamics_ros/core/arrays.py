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

from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError, NotNumericError

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
    NotNumericError
        If it does not consist of real numbers.

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
    NotNumericError
        If it does not consist of real numbers.

    """
    if -1 in shape:
        if type(value) is not np.ndarray:
            value = as_real(name, value)
        if value.ndim == len(shape):
            shape = tuple(g if s == -1 else s for g, s in zip(value.shape, shape))
    return as_array(name, value, shape)


def as_array(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """
    Return `value` as a contiguous, writable float64 array of exactly this shape.

    Raises
    ------
    DimensionError
        If the shape is another one.
    NotNumericError
        If it does not consist of real numbers.

    """
    if (
        type(value) is np.ndarray
        and value.dtype is _FLOAT64
        and value.shape == shape
        and value.flags.carray
    ):
        return value
    array = as_real(name, value)
    if array.shape != shape:
        raise DimensionError(name, shape, array.shape)
    return array


def as_real(name: str, value: Any) -> NDArray[np.float64]:
    """
    Return real numbers as a new, contiguous float64 array of whatever shape they have.

    numpy alone would take text such as ``'1.5'`` and None as numbers, and drop imaginary parts.

    Raises
    ------
    NotNumericError
        If `value` is or contains something else, or has rows of different lengths.

    """
    try:
        array = np.array(value, order='C')
    except (TypeError, ValueError) as error:
        raise NotNumericError(name, 'has rows of different lengths, or is no array') from error
    if array.dtype is _FLOAT64:
        return array
    if array.dtype.kind == 'O':  # Fraction, Decimal, mixtures
        wrong = [entry for entry in array.flat if not _is_real(entry)]
    else:
        wrong = [] if array.dtype.kind in 'biuf' else array.ravel().tolist()
    if wrong:
        raise NotNumericError(name, f'holds {wrong[0]!r:.60}')
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotNumericError(name, f'cannot be converted ({error})') from error


def _is_real(entry: Any) -> bool:
    if isinstance(entry, Complex):
        return isinstance(entry, Real)
    return hasattr(entry, '__float__')


def as_finite(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """
    Return `value` as by `as_array`, with every entry finite.

    Raises
    ------
    DimensionError
        If the shape is another one.
    NotNumericError
        If it does not consist of real numbers.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    array = as_array(name, value, shape)
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        raise NonFiniteError(name, f' (entry {", ".join(map(str, where))})')
    return array


def frozen(value: Any, name: str = 'the array') -> NDArray[np.float64]:
    """
    Return a read-only float64 copy of `value`.

    Raises
    ------
    NotNumericError
        If it does not consist of real numbers.

    """
    array = as_real(name, value)
    array.setflags(write=False)
    return array


def any_true(mask: NDArray[np.bool_]) -> bool:
    """Return ``mask.any()``, which would cost four times as much for a few joints."""
    return b'\x01' in mask.tobytes()

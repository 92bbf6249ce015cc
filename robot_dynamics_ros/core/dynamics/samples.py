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

"""Many samples: checks of their arrays, and the split over the processor's cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import os
from typing import Any, NoReturn

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, Matrix
from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError

SAMPLES_PER_CORE = 4096
"""Fewer samples than this are not worth another thread."""


def as_samples(name: str, value: Any, width: int, count: int = -1) -> Matrix:
    """
    Return `value` as a contiguous float64 array of shape ``(n_samples, width)``.

    Raises
    ------
    DimensionError
        If the shape is another one, or the number of samples is not `count`.

    """
    return as_matrix(name, value, (count, width))


def refuse_non_finite(result: str, **arrays: Matrix) -> NoReturn:
    """
    Raise the error that names the array with a number that is not finite.

    Raises
    ------
    NonFiniteError
        Always; `result` is named if every input is finite, since it is then too large for a float.

    """
    for name, array in arrays.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            raise NonFiniteError(name, f' (entry {", ".join(map(str, bad[0]))})')
    raise NonFiniteError(result, ': the inputs are too large')


def in_parallel(
    kernel: Callable[..., int], robot: Matrix, inputs: tuple[Matrix, ...], out: Matrix
) -> None:
    """
    Run a block kernel over all samples, on every core if there are enough of them.

    Parameters
    ----------
    kernel : callable
        ``kernel(robot, *inputs, out)`` returns the first sample that is not finite, or -1. It
        releases the GIL.
    robot : ndarray
        Packed model.
    inputs : tuple of ndarray
        One row for each sample.
    out : ndarray
        One entry along the first axis for each sample.

    Raises
    ------
    DimensionError
        If `out` has another number of samples.
    NonFiniteError
        If the kernel reports a sample.

    """
    count = len(inputs[0])
    if len(out) != count:
        raise DimensionError('out', (count, *out.shape[1:]), out.shape)
    parts = max(1, min(_cores(), count // SAMPLES_PER_CORE))
    edges = np.linspace(0, count, parts + 1).astype(int)
    slices = [slice(start, stop) for start, stop in zip(edges[:-1], edges[1:])]

    def run(part: slice) -> int:
        bad = kernel(robot, *(array[part] for array in inputs), out[part])
        return bad if bad < 0 else part.start + bad

    if parts == 1:
        bad = [run(slices[0])] if count else []
    else:
        run(slice(0, 1))  # compile once, before the threads
        with ThreadPoolExecutor(parts) as pool:
            bad = list(pool.map(run, slices))
    for sample in bad:
        if sample >= 0:
            raise NonFiniteError(
                f'sample {sample}', ', in its input or, where that is finite, in its result'
            )


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1

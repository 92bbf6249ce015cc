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

"""Many simulations of one robot at once, over the cores of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import os
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, as_real, Matrix
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.simulation.plant import Plant


def rollout(plants: Sequence[Plant], q: Any, v: Any, tau: Any, dt: float) -> tuple[Matrix, Matrix]:
    """
    Simulate from many states, each under its own torques, on as many threads as there are plants.

    The compiled steps release the GIL.

    Parameters
    ----------
    plants : sequence of Plant
        Equal plants, one a thread; see `plants_for_rollout`.
    q : array_like, shape (n, nq)
        Positions at the start.
    v : array_like, shape (n, nv)
        Velocities at the start.
    tau : array_like, shape (n, steps, nv)
        Torques, each held for `dt` [N m | N].
    dt : float
        Time for which a torque is held [s].

    Returns
    -------
    q : ndarray, shape (n, steps, nq)
        Positions after each torque.
    v : ndarray, shape (n, steps, nv)
        Velocities.

    Raises
    ------
    ConfigurationError
        If there is no plant, or `dt` is not positive.
    DimensionError, NonFiniteError
        If an array has the wrong shape or a number is not finite.

    """
    if not plants:
        raise ConfigurationError('a rollout needs a plant for each thread, got none')
    model = plants[0].model
    start, speed = as_matrix('q', q, (-1, model.nq)), as_matrix('v', v, (-1, model.nv))
    count = len(start)
    steps = as_real('tau', tau).shape[1] if np.ndim(tau) == 3 else 0
    torque = as_matrix('tau', tau, (count, steps, model.nv))
    as_matrix('v', speed, (count, model.nv))
    positions, velocities = np.empty((count, steps, model.nq)), np.empty((count, steps, model.nv))

    def run(worker: int) -> None:
        plant = plants[worker]
        for i in range(worker, count, len(plants)):
            plant.reset(start[i], speed[i])
            plant.advance(torque[i], dt, positions[i], velocities[i])

    with ThreadPoolExecutor(len(plants)) as pool:
        list(pool.map(run, range(len(plants))))
    return positions, velocities


def plants_for_rollout(plant: Any, count: int | None = None, **options: Any) -> list[Plant]:
    """Return equal plants, one for each core by default; arguments are those of `Plant`."""
    if count is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 1
    return [Plant(plant, **options) for _ in range(max(1, count))]

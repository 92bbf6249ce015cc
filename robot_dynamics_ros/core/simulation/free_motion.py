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
Free motion of one model with one integrator: the steps, ready for a loop.

The methods and their tables are those of `integrators`.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.dynamics.mimic_dynamics import OK
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    NonFiniteError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.jit import entry_point
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.simulation.motion_reference import ReferenceMotion
from robot_dynamics_ros.core.simulation.motion_steps import (
    advance_kernel,
    record_kernel,
    stage_rates_kernel,
    stage_state_kernel,
)

Efforts = Callable[[float, Vector, Vector], Any]
"""``tau(t, q, v)``: efforts [N m | N] at a time and a state."""

_TABLES = {
    'euler': ((0.0,), (1.0,)),
    'semi_implicit': ((0.0,), (1.0,)),
    'midpoint': ((0.0, 0.0), (0.5, 0.0), (0.0, 1.0)),
    'heun': ((0.0, 0.0), (1.0, 0.0), (0.5, 0.5)),
    'rk4': (
        (0.0, 0.0, 0.0, 0.0),
        (0.5, 0.0, 0.0, 0.0),
        (0.0, 0.5, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
        (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0),
    ),
}
"""A row of weights for each stage, then that of the step."""

ADAPTIVE = 'adaptive'
INTEGRATORS = (*_TABLES, ADAPTIVE)


class FreeMotion:
    """
    Unchecked steps of one model with one integrator, for one thread.

    The arrays that come in are float64, contiguous and writable, of the sizes named below; nothing
    of this is looked at. Make the object before the loop starts: the kernels are compiled, or
    loaded, here. With ``adaptive`` a block of steps is one integration with error control, which
    allocates; the others do not.

    Parameters
    ----------
    model : RobotModel
        The robot, on a fixed or floating base, with joints of any type.
    integrator : str
        One of `INTEGRATORS`.

    Raises
    ------
    ConfigurationError
        If the integrator is unknown.

    """

    def __init__(self, model: RobotModel, integrator: str = 'rk4') -> None:
        if integrator not in INTEGRATORS:
            raise ConfigurationError(
                f"integrator '{integrator}' is not one of: {', '.join(INTEGRATORS)}"
            )
        self.model = model
        self.integrator = integrator
        self._reference = ReferenceMotion(model) if integrator == ADAPTIVE else None
        self._table = np.array(_TABLES.get(integrator, _TABLES['euler']))
        self._lead = 1.0 if integrator == 'semi_implicit' else 0.0
        stages, n = self._table.shape[1], model.nv
        self._robot = (model.kernel, np.empty(model.work_shape), np.zeros((n, n)), np.zeros(n))
        self._rates = np.zeros((stages, n))
        self._accelerations = np.zeros((stages, n))
        self._stage = (np.zeros(n), neutral(model), np.zeros(n))
        self._instants = self._table[:-1].sum(axis=1)
        self._advance = entry_point(
            advance_kernel, *self._block(neutral(model), np.zeros(n), np.zeros(n), 1.0, 0)
        )

    def advance(
        self, q: Vector, v: Vector, tau: Vector, dt: float, steps: int = 1, time: float = 0.0
    ) -> None:
        """
        Move a state on, in place, under one effort.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Joint positions [rad | m].
        v : ndarray, shape (nv,)
            Joint velocities [rad/s | m/s].
        tau : ndarray, shape (nv,)
            Efforts, held [N m | N].
        dt : float
            Length of a step [s].
        steps : int
            Number of steps.
        time : float
            Time at the start, for the message of an error [s].

        Raises
        ------
        NonFiniteError
            If a step leads to a number that is not finite; the state is that before the step.
        SingularMassMatrixError
            If a degree of freedom moves no inertia; the state is that before the step.

        """
        if self._reference is not None:
            self._reference.advance(q, v, lambda *_: tau, time, dt * steps)
            return
        status, done = self._advance(*self._block(q, v, tau, dt, steps))
        if status != OK:
            self._refuse(status, time + (done + 1) * dt)

    def record(
        self,
        q: Vector,
        v: Vector,
        tau: Vector,
        dt: float,
        steps: int,
        every: int,
        q_record: Matrix,
        v_record: Matrix,
    ) -> None:
        """
        Move a state on as `advance` does, and write it down on the way.

        Parameters
        ----------
        q, v, tau, dt, steps
            As in `advance`.
        every : int
            Steps from one row of the records to the next; the last row is the end.
        q_record : ndarray, shape (1 + ceil(steps / every), nq)
            Where the positions go, from row 1 on.
        v_record : ndarray, shape (1 + ceil(steps / every), nv)
            Where the velocities go, from row 1 on.

        Raises
        ------
        NonFiniteError
            If a step leads to a number that is not finite.
        SingularMassMatrixError
            If a degree of freedom moves no inertia.

        """
        if self._reference is None:
            block = (*self._block(q, v, tau, dt, steps), every, q_record, v_record)
            status, done = record_kernel(*block)
            if status != OK:
                self._refuse(status, (done + 1) * dt)
            return
        for row in range(1, len(q_record)):
            begin, end = (row - 1) * every, min(row * every, steps)
            self.advance(q, v, tau, dt, end - begin, begin * dt)
            q_record[row], v_record[row] = q, v

    def step(self, q: Vector, v: Vector, tau: Efforts, time: float, dt: float) -> None:
        """
        Move a state on by one step, in place, with the efforts of every stage.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Joint positions [rad | m].
        v : ndarray, shape (nv,)
            Joint velocities [rad/s | m/s].
        tau : callable
            Efforts ``tau(t, q, v)`` [N m | N]; their shape and their numbers are looked at.
        time, dt : float
            Start and length of the step [s].

        Raises
        ------
        DimensionError
            If the efforts have another shape than ``(nv,)``.
        NonFiniteError
            If an effort or a number of the new state is not finite.
        NotNumericError
            If the efforts are not real numbers.
        SingularMassMatrixError
            If a degree of freedom moves no inertia.

        """
        if self._reference is not None:
            self._reference.advance(q, v, tau, time, dt)
            return
        d, q_stage, v_stage = self._stage
        rates, accelerations = self._rates, self._accelerations
        stages = len(rates)
        for i in range(stages + 1):
            stage_state_kernel(
                self._robot[0], self._table, i, dt, q, v, rates, accelerations, *self._stage
            )
            if i == stages:
                break
            efforts = tau(time + self._instants[i] * dt, q_stage.copy(), v_stage.copy())
            efforts = as_finite('tau', efforts, (len(v),))
            status = stage_rates_kernel(
                *self._robot, self._lead, dt, *self._stage, efforts, rates[i], accelerations[i]
            )
            if status != OK:
                self._refuse(status, time + dt)
        if not (np.isfinite(q_stage).all() and np.isfinite(v_stage).all()):
            raise NonFiniteError('the simulated state', f' at {time + dt:.6g} s')
        q[:] = q_stage
        v[:] = v_stage

    def _block(self, q: Vector, v: Vector, tau: Vector, dt: float, steps: int) -> tuple[Any, ...]:
        """Return the arguments of the compiled block."""
        return (
            *self._robot,
            self._table,
            self._lead,
            self._rates,
            self._accelerations,
            *self._stage,
            q,
            v,
            tau,
            dt,
            steps,
        )

    def _refuse(self, status: int, time: float) -> None:
        if status >= 0:
            raise SingularMassMatrixError(self.model.v_names[status])
        raise NonFiniteError('the simulated state', f' at {time:.6g} s')

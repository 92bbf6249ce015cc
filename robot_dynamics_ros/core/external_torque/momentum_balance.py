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
What changes the momentum of a robot between two messages and is not in its model.

From ``M a + C v + g + tau_friction = tau + tau_ext`` follows for :math:`p = M v`

.. math::

    \int_{t_{k-1}}^{t_k} \tau_{ext}\, dt = p_k - p_{k-1}
        - \int_{t_{k-1}}^{t_k} (\tau - \tau_f + C^T v - g)\, dt,

an impulse for every joint, whatever the time between the messages. The integral is taken by the
trapezoidal rule. Friction is a range near rest, see `friction_interval`; what the impulse may be
off for that is its slack.

Efforts are often older than the positions in the same message. They are then set against the
momentum at the time when they were measured, linearly interpolated between the states that were
kept: the result comes later by as much. An effort that is held over a period counts for its
middle: its age is half a period more.

All estimators of this folder live on these impulses.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.friction_interval import (
    DEFAULT_REST_SPEED,
    friction_interval_kernel,
    FrictionInterval,
    TERM_ROWS,
    write_friction,
)
from robot_dynamics_ros.core.external_torque.momentum_terms import momentum_kernel
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.jit import entry_point, inner, kernel
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

LONGEST_DELAY = 0.05
"""Largest age of an effort beyond that of the state [s]."""

_KEPT = 256
# Rows of the memory
_DRIVE = 0  # C^T v - g - tau_friction of the last state
_HALF = 1  # half of the width of its friction
_TAU = 2  # last effort
_P = 3  # momentum where the last impulse ended
_DRIVES = 4  # integral of the drive there
_HALVES = 5  # integral of the half widths there
_ROWS = 6
# Entries of the clock
_LAST = 0  # time of the last state
_COUNT = 1  # states since the start
_MARKED = 2  # whether an impulse has ended before


@inner
def _upper_end(history: Matrix, count: int, time: float) -> int:
    """Return which state is the first one not before a time, -1 if it is before all of them."""
    kept = history.shape[0]
    oldest = max(0, count - kept)
    if time < history[oldest % kept, 0]:
        return -1
    i = count - 1
    while i > oldest and history[(i - 1) % kept, 0] >= time:
        i -= 1
    return i


@inner
def _add_state(
    history: Matrix, memory: Matrix, law: Matrix, count: int, dt: float, v: Vector, rate: Vector
) -> None:
    """Integrate the drive and the half widths up to the new state, whose momentum is there."""
    n = v.size
    row = history[count % history.shape[0]]
    before = history[(count - 1) % history.shape[0]]
    middle = row[1 + n : 1 + 2 * n]
    half = row[1 + 2 * n :]
    write_friction(law, v, middle, half)
    for j in range(n):
        drive = rate[j] - middle[j]
        width = half[j]
        middle[j] = 0.0
        half[j] = 0.0
        if count > 0:
            middle[j] = before[1 + n + j] + 0.5 * dt * (drive + memory[_DRIVE, j])
            half[j] = before[1 + 2 * n + j] + 0.5 * dt * (width + memory[_HALF, j])
        memory[_DRIVE, j] = drive
        memory[_HALF, j] = width


@kernel
def balance_kernel(
    robot: Matrix,
    work: Matrix,
    law: Matrix,
    history: Matrix,
    memory: Matrix,
    clock: Vector,
    time: float,
    delay: float,
    q: Vector,
    v: Vector,
    tau: Vector,
    impulse: Vector,
    slack: Vector,
) -> int:
    """Take a state in; return 1 if an impulse has been written, 0 if not, -1 if not finite."""
    n = v.size
    kept = history.shape[0]
    count = int(clock[_COUNT])
    row = history[count % kept]
    if not (momentum_kernel(robot, work, q, v, row[1 : 1 + n], impulse) and is_finite(tau)):
        return -1
    dt = time - clock[_LAST]
    row[0] = time
    _add_state(history, memory, law, count, dt, v, impulse)  # `impulse` still holds the rate
    clock[_LAST] = time
    clock[_COUNT] += 1.0
    end = _upper_end(history, count + 1, time - delay)
    status = 0
    if end >= 0:
        upper = history[end % kept]
        lower = history[(end - 1) % kept] if end > 0 else upper
        back = 0.0  # share of the way back from the upper end
        if upper[0] > lower[0]:
            back = max(upper[0] - (time - delay), 0.0) / (upper[0] - lower[0])
        for j in range(n):
            p = upper[1 + j] - back * (upper[1 + j] - lower[1 + j])
            drive = upper[1 + n + j] - back * (upper[1 + n + j] - lower[1 + n + j])
            half = upper[1 + 2 * n + j] - back * (upper[1 + 2 * n + j] - lower[1 + 2 * n + j])
            if clock[_MARKED] != 0.0:
                effort = 0.5 * dt * (tau[j] + memory[_TAU, j])
                impulse[j] = p - memory[_P, j] - (drive - memory[_DRIVES, j]) - effort
                slack[j] = half - memory[_HALVES, j]
                status = 1
            memory[_P, j] = p
            memory[_DRIVES, j] = drive
            memory[_HALVES, j] = half
        clock[_MARKED] = 1.0
    for j in range(n):
        memory[_TAU, j] = tau[j]
    return status


class MomentumBalance:
    """
    Impulses that the model does not explain.

    Parameters
    ----------
    model : RobotModel
        The robot, on a fixed base, all joints of one coordinate.
    friction : DryFriction or FrictionModel, optional
        Friction of its joints; none by default.
    rest_speed : float or array_like, shape (nv,)
        Speed up to which a joint may stick [rad/s | m/s].
    effort_delay : float
        How much older the effort of a message is than its positions, up to `LONGEST_DELAY` [s].
    longest_gap : float
        Time between two messages beyond which the balance starts afresh [s].

    Attributes
    ----------
    model : RobotModel
        The robot; see `change`.
    impulse : ndarray, shape (nv,)
        Impulse of the external torque from the last message to this one, with the middle of the
        range of friction; written in place [N m s | N s].
    slack : ndarray, shape (nv,)
        How far it may be off either way because a joint may stick; written in place [N m s | N s].
    dt : float
        Duration of the impulse; 0 if there is none yet [s].
    restarts : int
        How often it started afresh after a gap.

    Raises
    ------
    ConfigurationError
        If a parameter is out of range, or the friction is that of other joints.
    ModelError
        If the robot has a joint of several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        friction: DryFriction | FrictionModel | None = None,
        *,
        rest_speed: Any = DEFAULT_REST_SPEED,
        effort_delay: float = 0.0,
        longest_gap: float = 0.05,
    ) -> None:
        require_single_joints(model, 'the momentum balance')
        if not 0.0 <= effort_delay <= LONGEST_DELAY:
            raise ConfigurationError(
                f'effort_delay is {effort_delay:g} s, expected 0 to {LONGEST_DELAY:g}'
            )
        if not 0.0 < longest_gap < np.inf:
            raise ConfigurationError(f'longest_gap is {longest_gap:g} s, expected > 0')
        n = model.nv
        self.model = model
        self.effort_delay = float(effort_delay)
        self.longest_gap = float(longest_gap)
        self._rest_speed = rest_speed
        self._law = FrictionInterval(model.v_names, friction, rest_speed).law
        self._work = np.empty(model.work_shape)
        self._history = np.zeros((_KEPT, 1 + 3 * n))
        self._memory = np.zeros((_ROWS, n))
        self._clock = np.zeros(3)
        self._start = 0.0
        self.impulse = np.zeros(n)
        self.slack = np.zeros(n)
        self.dt = 0.0
        self.restarts = 0
        zero = np.zeros(n)
        self._kernel = entry_point(
            balance_kernel, *self._arguments(0.0, np.zeros(model.nq), zero, zero)
        )
        self._friction_kernel = entry_point(
            friction_interval_kernel, self._law, zero, np.empty(n), np.empty(n)
        )
        self.reset()

    def _arguments(self, time: float, q: Vector, v: Vector, tau: Vector) -> tuple[Any, ...]:
        return (
            self.model.kernel,
            self._work,
            self._law,
            self._history,
            self._memory,
            self._clock,
            time,
            self.effort_delay,
            q,
            v,
            tau,
            self.impulse,
            self.slack,
        )

    def change(self, model: RobotModel) -> None:
        """Go on with another payload and the same friction; the balance starts afresh."""
        self.model = model
        self.reset()

    def use_friction(self, friction: DryFriction | FrictionModel | None) -> None:
        """
        Go on with other friction, such as a newer estimate, from the next message on.

        Raises
        ------
        ConfigurationError
            If it is that of other joints.

        """
        self._law = FrictionInterval(self.model.v_names, friction, self._rest_speed).law

    def follow_friction(self, values: Matrix) -> None:
        """
        Go on with other viscous and Coulomb friction; what rises at rest stays in proportion.

        Parameters
        ----------
        values : ndarray, shape (4, nv)
            In the order of `TERMS` of `friction_model` [N m s/rad | N s/m, N m | N].

        """
        self._law[TERM_ROWS, :] = values

    def friction(self, v: Vector) -> Vector:
        """Return the middle of the range of friction, shape (nv,), with its sign [N m | N]."""
        middle, half = np.empty(v.size), np.empty(v.size)
        self._friction_kernel(self._law, v, middle, half)
        return middle

    def with_model(self, model: RobotModel) -> MomentumBalance:
        """Return a balance of another model with the same joints and friction, at its start."""
        other = MomentumBalance(
            model,
            rest_speed=self._rest_speed,
            effort_delay=self.effort_delay,
            longest_gap=self.longest_gap,
        )
        other._law = self._law.copy()
        other.restarts = self.restarts
        return other

    def reset(self) -> None:
        """Forget what has come before."""
        self._clock[:] = 0.0
        self.dt = 0.0

    def step(self, time: float, q: Any, v: Any, tau: Any) -> bool:
        """
        Take in one message.

        Parameters
        ----------
        time : float
            Stamp of the state [s].
        q, v : array_like, shape (nv,)
            Joint positions and velocities [rad | m], [rad/s | m/s].
        tau : array_like, shape (nv,)
            Measured torque of the joints, gravity included, friction not taken off [N m | N].

        Returns
        -------
        has_impulse : bool
            Whether `impulse`, `slack` and `dt` hold a new impulse. After the start, a gap, a stamp
            that does not increase, or a number that is not finite the balance begins afresh.

        Raises
        ------
        DimensionError
            If a vector has another shape.

        """
        n = self.model.nv
        q, v, tau = as_vector('q', q, n), as_vector('v', v, n), as_vector('tau', tau, n)
        clock = self._clock
        if clock[_COUNT] > 0.0:
            dt = time - self._start - clock[_LAST]
            if not 0.0 < dt <= self.longest_gap:
                self.reset()
                self.restarts += 1
        if clock[_COUNT] == 0.0:
            self._start = float(time)
            dt = 0.0
        status = self._kernel(*self._arguments(float(time) - self._start, q, v, tau))
        if status < 0:
            self.reset()
            self.restarts += 1
        self.dt = dt if status > 0 else 0.0
        return bool(status > 0)

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
Time steps of a robot with elastic joints.

The coordinates `x` are the link positions and then the motor positions of the elastic joints, `u`
their velocities:

.. math:: \mathcal M(x)\,\dot u + \mathcal D u + \mathcal K x + (h, 0) + \tau_f = \mathrm{push}

`rk4` is the classical Runge-Kutta method with the friction of the last step held, and the velocity
corrected at the end such that it fulfils the friction law (`stick_slip`), as in `plant`. It needs
a step that resolves the fastest mode.

`implicit` is the implicit midpoint rule. With :math:`\bar u = (u + u^+) / 2` and all forces at the
midpoint,

.. math:: \Bigl(\mathcal M + \tfrac{h}{2} \mathcal D + \tfrac{h^2}{4} \mathcal K\Bigr) u^+ +
          h\,\lambda = \Bigl(\mathcal M - \tfrac{h}{2} \mathcal D - \tfrac{h^2}{4} \mathcal K\Bigr)
          u - h\,\mathcal K x - h\,(h(\bar q, \bar v), 0) + h\,\mathrm{push}

where dry friction :math:`\lambda` obeys its law at :math:`u^+`. Load-dependent levels are those of
the torque in the spring at the start of the step. The springs are solved exactly in
every iteration, so that their stiffness limits nothing; only `M` and `h`, which change little in a
step, are iterated to a fixed point. The rule is of second order, symmetric in time, A-stable, and
keeps the energy of a linear system without damping exactly. A mode that the step does not resolve
stays bounded but has the wrong frequency: lower by the part :math:`(\omega h)^2 / 12`.

References
----------
.. [1] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006, sections II.1 and
       VI.6.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.mass_matrix_inverse import factor, solve
from robot_dynamics_ros.core.dynamics.mimic_dynamics import NOT_FINITE, OK
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.friction.stick_slip import friction_step_kernel, stick_slip_kernel
from robot_dynamics_ros.core.jit import inner, kernel

NOT_CONVERGED = -3
"""Status of an implicit step whose iteration has no fixed point in reach."""

# Rows of the motors' table
OWNER = 0
"""Index of the joint."""
STIFFNESS = 1
DAMPING = 2
INERTIA = 3
MOTOR_ROWS = 4

LAW_ROWS = 7
"""Rows of the friction law: those of `DryFriction.packed` and its `load_coefficient`."""

SCRATCH_ROWS = 12
_MAX_ITERATIONS = 60
_TOLERANCE = 1e-13


@inner
def _bias_and_mass(
    robot: Matrix, work: Matrix, q: Vector, v: Vector, zero: Vector, bias: Vector, mass: Matrix
) -> bool:
    """Write ``h(q, v)`` and ``M(q)``; return whether all is finite."""
    finite = rnea_kernel(robot, work, q, v, zero, bias)
    return bool(finite & crba_kernel(robot, work, q, mass))


@inner
def _rates(
    robot: Matrix,
    work: Matrix,
    motors: Matrix,
    push: Vector,
    friction: Vector,
    x: Vector,
    u: Vector,
    zero: Vector,
    bias: Vector,
    mass: Matrix,
    rate: Vector,
) -> int:
    """Write the accelerations of links and motors with friction held; return a status."""
    n = bias.size
    if not _bias_and_mass(robot, work, x[:n], u[:n], zero, bias, mass):
        return NOT_FINITE
    for i in range(x.size):
        rate[i] = push[i] - friction[i]
    for m in range(motors.shape[1]):
        i = int(motors[OWNER, m])
        spring = motors[STIFFNESS, m] * (x[n + m] - x[i])
        spring += motors[DAMPING, m] * (u[n + m] - u[i])
        rate[i] += spring
        rate[n + m] = (rate[n + m] - spring) / motors[INERTIA, m]
    for i in range(n):
        rate[i] -= bias[i]
    singular = factor(mass)
    if singular >= 0:
        return int(singular)
    solve(mass, rate[:n])
    return OK


@inner
def _total_mass(motors: Matrix, mass: Matrix, total: Matrix) -> None:
    """Write the mass matrix of links and motors together."""
    n = mass.shape[0]
    for i in range(total.shape[0]):
        for j in range(total.shape[0]):
            total[i, j] = mass[i, j] if i < n and j < n else 0.0
    for m in range(motors.shape[1]):
        total[n + m, n + m] = motors[INERTIA, m]


@inner
def _rk4_step(
    robot: Matrix,
    work: Matrix,
    motors: Matrix,
    law: Matrix,
    push: Vector,
    x: Vector,
    u: Vector,
    friction: Vector,
    dt: float,
    rows: Matrix,
    bias: Matrix,
    mass: Matrix,
    total: Matrix,
) -> int:
    """Write the end of a step to the first two rows; return a status."""
    n, size = mass.shape[0], x.size
    x_new, u_new, u_free = rows[0], rows[1], rows[2]
    for stage in range(4):
        part = 0.0 if stage == 0 else (dt if stage == 3 else 0.5 * dt)
        for i in range(size):
            x_new[i] = x[i]
            u_new[i] = u[i]
            if stage > 0:
                x_new[i] += part * rows[4 + 2 * stage - 2, i]
                u_new[i] += part * rows[5 + 2 * stage - 2, i]
            rows[4 + 2 * stage, i] = u_new[i]
        status = _rates(
            robot, work, motors, push, friction, x_new, u_new, bias[1], bias[0], mass,
            rows[5 + 2 * stage],
        )  # fmt: skip
        if status != OK:
            return status
    sixth = dt / 6.0
    for i in range(size):
        x_new[i] = x[i] + sixth * (rows[4, i] + 2.0 * (rows[6, i] + rows[8, i]) + rows[10, i])
        u_new[i] = u[i] + sixth * (rows[5, i] + 2.0 * (rows[7, i] + rows[9, i]) + rows[11, i])
    if law.shape[0] == 0:
        return OK
    for i in range(size):
        u_free[i] = u_new[i]
    if not crba_kernel(robot, work, x_new[:n], mass):
        return NOT_FINITE
    _total_mass(motors, mass, total)
    friction_step_kernel(law, total, u, u_free, dt, friction, u_new)
    for i in range(size):
        x_new[i] += 0.5 * dt * (u_new[i] - u_free[i])
        if u[i] == 0.0 and u_new[i] == 0.0 and law[1, i] + law[2, i] > 0.0:
            x_new[i] = x[i]
    return OK


@inner
def _add_springs(
    motors: Matrix, n: int, x: Vector, u: Vector, dt: float, k: Matrix, r: Vector
) -> None:
    """Add the springs to the linear system of the implicit step."""
    for m in range(motors.shape[1]):
        i = int(motors[OWNER, m])
        j = n + m
        stiffness = motors[STIFFNESS, m]
        c = 0.5 * dt * (0.5 * dt * stiffness + motors[DAMPING, m])
        k[i, i] += c
        k[j, j] += c
        k[i, j] -= c
        k[j, i] -= c
        impulse = dt * stiffness * (x[j] - x[i]) + c * (u[j] - u[i])
        r[i] += impulse
        r[j] -= impulse


@inner
def _add_friction(law: Matrix, u: Vector, dt: float, k: Matrix, r: Vector, rows: Matrix) -> None:
    """Add viscous friction to the linear system, and write the levels of dry friction."""
    for i in range(u.size):
        viscous = law[0, i] if u[i] >= 0.0 else law[5, i]
        theta = 1.0 if dt * viscous > k[i, i] else 0.5
        k[i, i] += theta * dt * viscous
        r[i] -= (1.0 - theta) * dt * viscous * u[i]
        speed = u[i] / law[4, i]
        rise = dt * (1.0 + (law[3, i] - 1.0) * math.exp(-speed * speed))
        rows[3, i] = law[1, i] * rise
        rows[4, i] = law[2, i] * rise
        rows[5, i] = viscous
        rows[6, i] = theta


@inner
def _write_friction(
    u: Vector, u_new: Vector, dt: float, k: Matrix, r: Vector, rows: Matrix, friction: Vector
) -> None:
    """Write the friction that acted in the implicit step."""
    for i in range(u.size):
        theta = rows[6, i]
        friction[i] = rows[5, i] * (theta * u_new[i] + (1.0 - theta) * u[i])
        if rows[3, i] + rows[4, i] > 0.0:
            rest = r[i]
            for j in range(u.size):
                rest -= k[i, j] * u_new[j]
            friction[i] += rest / dt


@inner
def _implicit_step(
    robot: Matrix,
    work: Matrix,
    motors: Matrix,
    law: Matrix,
    push: Vector,
    x: Vector,
    u: Vector,
    friction: Vector,
    dt: float,
    rows: Matrix,
    bias: Matrix,
    mass: Matrix,
    total: Matrix,
) -> int:
    """Write the end of a step to the first two rows; return a status."""
    n, size = mass.shape[0], x.size
    x_new, u_new, r, last = rows[0], rows[1], rows[2], rows[7]
    for i in range(size):
        u_new[i] = u[i]
    status = NOT_CONVERGED
    for iteration in range(_MAX_ITERATIONS):
        for i in range(n):
            bias[2, i] = x[i] + 0.25 * dt * (u[i] + u_new[i])
            bias[3, i] = 0.5 * (u[i] + u_new[i])
        if not _bias_and_mass(robot, work, bias[2], bias[3], bias[1], bias[0], mass):
            return NOT_FINITE if iteration == 0 else NOT_CONVERGED
        _total_mass(motors, mass, total)
        for i in range(size):
            last[i] = u_new[i]
            r[i] = dt * push[i]
            for j in range(size):
                r[i] += total[i, j] * u[j]
            if i < n:
                r[i] -= dt * bias[0, i]
        _add_springs(motors, n, x, u, dt, total, r)
        if law.shape[0] > 0:
            _add_friction(law, u, dt, total, r, rows)
            stick_slip_kernel(total, r, rows[3], rows[4], u_new)
        elif factor(total) >= 0:
            return NOT_FINITE
        else:
            solve(total, r)
            for i in range(size):
                u_new[i] = r[i]
        change = 0.0
        largest = 1.0
        for i in range(size):
            change = max(change, abs(u_new[i] - last[i]))
            largest = max(largest, abs(u_new[i]))
        if change <= _TOLERANCE * largest:
            status = OK
            break
    if law.shape[0] > 0:
        _write_friction(u, u_new, dt, total, r, rows, friction)
    for i in range(size):
        x_new[i] = x[i] + 0.5 * dt * (u[i] + u_new[i])
    return status


@inner
def _load_law(
    motors: Matrix, n: int, law: Matrix, push: Vector, x: Vector, u: Vector, loaded: Matrix
) -> None:
    """Write the friction law under the torques that the transmissions carry now."""
    for i in range(x.size):
        loaded[LAW_ROWS - 1, i] = push[i]
    for m in range(motors.shape[1]):
        i = int(motors[OWNER, m])
        spring = motors[STIFFNESS, m] * (x[n + m] - x[i])
        loaded[LAW_ROWS - 1, n + m] = spring + motors[DAMPING, m] * (u[n + m] - u[i])
    for i in range(x.size):
        rise = law[LAW_ROWS - 1, i] * abs(loaded[LAW_ROWS - 1, i])
        for row in range(LAW_ROWS - 1):
            loaded[row, i] = law[row, i]
        loaded[1, i] += rise
        loaded[2, i] += rise


@kernel
def elastic_block_kernel(
    robot: Matrix,
    work: Matrix,
    motors: Matrix,
    law: Matrix,
    push: Vector,
    x: Vector,
    u: Vector,
    friction: Vector,
    dt: float,
    steps: int,
    is_implicit: bool,
    loaded: Matrix,
    rows: Matrix,
    bias: Matrix,
    mass: Matrix,
    total: Matrix,
) -> tuple[int, int]:
    """
    Move links and motors on by a block of steps under one effort.

    Parameters
    ----------
    robot, work : ndarray
        Packed model and its scratch.
    motors : ndarray, shape (4, n_elastic)
        Owner, stiffness, damping and inertia of every motor.
    law : ndarray, shape (7, n + n_elastic) or (0, n + n_elastic)
        Friction law of every coordinate: `DryFriction.packed` and `load_coefficient`; no rows for
        none.
    push : ndarray, shape (n + n_elastic,)
        Effort on every coordinate [N m | N].
    x, u, friction : ndarray, shape (n + n_elastic,)
        In and out: positions, velocities and the friction of the last step.
    dt : float
        Length of a step [s].
    steps : int
        Number of steps.
    is_implicit : bool
        Which method.
    loaded, rows, bias, mass, total : ndarray
        Scratch: in the shape of `law`, and (12, n + n_elastic), (4, n), (n, n), (n + n_elastic, n
        + n_elastic); ``bias[1]`` is zero.

    Returns
    -------
    status : int
        -1 for success, -2 for a number that is not finite, -3 for an implicit step that did not
        converge, or else the degree of freedom that moves no inertia.
    done : int
        Number of steps that went well; the state is that after the last of them.

    """
    for step in range(steps):
        if law.shape[0] > 0:
            _load_law(motors, mass.shape[0], law, push, x, u, loaded)
        if is_implicit:
            status = _implicit_step(
                robot, work, motors, loaded, push, x, u, friction, dt, rows, bias, mass, total
            )
        else:
            status = _rk4_step(
                robot, work, motors, loaded, push, x, u, friction, dt, rows, bias, mass, total
            )
        if status != OK:
            return status, step
        if not (is_finite(rows[0]) and is_finite(rows[1])):
            return NOT_FINITE, step
        for i in range(x.size):
            x[i] = rows[0, i]
            u[i] = rows[1, i]
    return OK, steps

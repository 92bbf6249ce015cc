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
Explicit Runge-Kutta steps of a robot's free motion, with configurations on their own space.

The state is :math:`(q, v)` with :math:`\dot v = a(q, v, \tau)`. A joint of one coordinate has
:math:`\dot q = v`. The pose of a free joint is an element of SE(3) with :math:`\dot q = q \hat v`,
:math:`v` in the body's own frame. During a step from :math:`q_0` it is written :math:`q = q_0
\exp(d)`, and the Runge-Kutta method is applied to :math:`d`, which starts from zero:

.. math:: \dot d = \mathrm{dexp}^{-1}_{-d}(v) = v + \tfrac12 [d, v] + \tfrac1{12} [d, [d, v]]
          + O(d^4)

That is the method of Munthe-Kaas. With the two brackets the order of the method is kept up to
four, and a product of unit quaternions is a unit quaternion: nothing is projected. (The rounding
of its length is taken away in every step. The dynamics depend on its direction only, so this
cannot change the energy.)

A method is a table with one row of weights for each stage, and the weights of the step as the last
row. Semi-implicit Euler is the table of explicit Euler with the position moved by the new
velocity, :math:`v + \Delta t\,a`: the number `lead` is 1 for it and 0 for the others.

References
----------
.. [1] H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical
   Mathematics 29, 1999, sec. 3.
.. [2] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006, sec. IV.8
   (Algorithm 8.1, there with the group acting from the left).

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.aba import aba_kernel
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.mass_matrix_inverse import factor, solve
from robot_dynamics_ros.core.dynamics.mimic_dynamics import NOT_FINITE, OK
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import FREE, IQ, IV, KIND, MIMIC, NBODIES


@inner
def _screw(q: Vector, iq: int, d: Vector, iv: int, out: Vector) -> None:
    """Write the pose ``q exp(d)`` of a free joint."""
    dx = d[iv]
    dy = d[iv + 1]
    dz = d[iv + 2]
    rx = d[iv + 3]
    ry = d[iv + 4]
    rz = d[iv + 5]
    square = rx * rx + ry * ry + rz * rz
    # half = sin(angle / 2) / angle; first and second are those of the left Jacobian of SO(3).
    if square < 1e-4:
        half = 0.5 - square / 48.0 * (1.0 - square / 80.0)
        cosine = 1.0 - square / 8.0 * (1.0 - square / 48.0 * (1.0 - square / 120.0))
        first = 0.5 - square / 24.0 * (1.0 - square / 30.0)
        second = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0)
    else:
        angle = math.sqrt(square)
        half = math.sin(0.5 * angle) / angle
        cosine = math.cos(0.5 * angle)
        first = 2.0 * half * half
        second = (angle - math.sin(angle)) / (angle * square)
    ax = ry * dz - rz * dy
    ay = rz * dx - rx * dz
    az = rx * dy - ry * dx
    sx = dx + first * ax + second * (ry * az - rz * ay)
    sy = dy + first * ay + second * (rz * ax - rx * az)
    sz = dz + first * az + second * (rx * ay - ry * ax)
    x = q[iq + 3]
    y = q[iq + 4]
    z = q[iq + 5]
    w = q[iq + 6]
    # R s = s + 2 u x (u x s + w s) / |quaternion|^2
    k = 2.0 / (x * x + y * y + z * z + w * w)
    ax = y * sz - z * sy + w * sx
    ay = z * sx - x * sz + w * sy
    az = x * sy - y * sx + w * sz
    out[iq] = q[iq] + sx + k * (y * az - z * ay)
    out[iq + 1] = q[iq + 1] + sy + k * (z * ax - x * az)
    out[iq + 2] = q[iq + 2] + sz + k * (x * ay - y * ax)
    rx *= half
    ry *= half
    rz *= half
    nx = w * rx + cosine * x + y * rz - z * ry
    ny = w * ry + cosine * y + z * rx - x * rz
    nz = w * rz + cosine * z + x * ry - y * rx
    nw = w * cosine - x * rx - y * ry - z * rz
    scale = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    out[iq + 3] = scale * nx
    out[iq + 4] = scale * ny
    out[iq + 5] = scale * nz
    out[iq + 6] = scale * nw


@inner
def move_configuration(robot: Matrix, q: Vector, d: Vector, out: Vector) -> None:
    """Write the configuration that the displacement `d` leads to from `q`."""
    if q.size == d.size:  # no free joint: both run in parallel
        for k in range(d.size):
            out[k] = q[k] + d[k]
        return
    for i in range(int(robot[0, NBODIES])):
        iq = int(robot[1 + i, IQ])
        iv = int(robot[1 + i, IV])
        if robot[1 + i, KIND] == FREE:
            _screw(q, iq, d, iv, out)
        else:
            out[iq] = q[iq] + d[iv]


@inner
def _add_brackets(d: Vector, v: Vector, at: int, rate: Vector) -> None:
    """Add ``[d, v] / 2 + [d, [d, v]] / 12`` of a free joint; ``[d, .]`` is the motion cross."""
    px = d[at]
    py = d[at + 1]
    pz = d[at + 2]
    rx = d[at + 3]
    ry = d[at + 4]
    rz = d[at + 5]
    ax = v[at + 3]
    ay = v[at + 4]
    az = v[at + 5]
    lx = ry * v[at + 2] - rz * v[at + 1] + py * az - pz * ay
    ly = rz * v[at] - rx * v[at + 2] + pz * ax - px * az
    lz = rx * v[at + 1] - ry * v[at] + px * ay - py * ax
    wx = ry * az - rz * ay
    wy = rz * ax - rx * az
    wz = rx * ay - ry * ax
    rate[at] += 0.5 * lx + (ry * lz - rz * ly + py * wz - pz * wy) / 12.0
    rate[at + 1] += 0.5 * ly + (rz * lx - rx * lz + pz * wx - px * wz) / 12.0
    rate[at + 2] += 0.5 * lz + (rx * ly - ry * lx + px * wy - py * wx) / 12.0
    rate[at + 3] += 0.5 * wx + (ry * wz - rz * wy) / 12.0
    rate[at + 4] += 0.5 * wy + (rz * wx - rx * wz) / 12.0
    rate[at + 5] += 0.5 * wz + (rx * wy - ry * wx) / 12.0


@inner
def _acceleration(
    robot: Matrix,
    work: Matrix,
    mass: Matrix,
    bias: Vector,
    q: Vector,
    v: Vector,
    tau: Vector,
    a: Vector,
) -> int:
    """
    Write the accelerations of a model with or without mimic joints.

    Return a status as `aba_kernel` does. `mass` and `bias` are scratch for mimic joints.

    """
    if robot[0, MIMIC] == 0.0:
        return int(aba_kernel(robot, work, q, v, tau, a))
    for k in range(v.size):
        a[k] = 0.0
    finite = rnea_kernel(robot, work, q, v, a, bias)
    finite &= crba_kernel(robot, work, q, mass)
    if not (finite and is_finite(tau)):
        return NOT_FINITE
    singular = factor(mass)
    if singular >= 0:
        return int(singular)
    for k in range(v.size):
        a[k] = tau[k] - bias[k]
    solve(mass, a)
    return OK if is_finite(a) else NOT_FINITE


@inner
def _stage_state(
    robot: Matrix,
    table: Matrix,
    i: int,
    dt: float,
    q: Vector,
    v: Vector,
    rates: Matrix,
    accelerations: Matrix,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
) -> None:
    """Write the state of stage `i`; the end of the step is the one after the last stage."""
    if i == 0:
        for k in range(q.size):
            q_stage[k] = q[k]
        for k in range(v.size):
            v_stage[k] = v[k]
            d[k] = 0.0
        return
    for k in range(v.size):
        shift = 0.0
        change = 0.0
        for j in range(min(i, table.shape[1])):
            shift += table[i, j] * rates[j, k]
            change += table[i, j] * accelerations[j, k]
        d[k] = dt * shift
        v_stage[k] = v[k] + dt * change
    move_configuration(robot, q, d, q_stage)


@inner
def _stage_rates(
    robot: Matrix,
    work: Matrix,
    mass: Matrix,
    bias: Vector,
    lead: float,
    dt: float,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
    tau: Vector,
    rate: Vector,
    acceleration: Vector,
) -> int:
    """Write the rates of displacement and velocity of a stage; return the status."""
    status = _acceleration(robot, work, mass, bias, q_stage, v_stage, tau, acceleration)
    for k in range(d.size):
        rate[k] = v_stage[k] + lead * dt * acceleration[k]
    if q_stage.size != d.size:
        for b in range(1, 1 + int(robot[0, NBODIES])):
            if robot[b, KIND] == FREE:
                _add_brackets(d, v_stage, int(robot[b, IV]), rate)
    return status


@kernel
def stage_state_kernel(
    robot: Matrix,
    table: Matrix,
    i: int,
    dt: float,
    q: Vector,
    v: Vector,
    rates: Matrix,
    accelerations: Matrix,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
) -> None:
    """Write the state of stage `i`; the end of the step is the one after the last stage."""
    _stage_state(robot, table, i, dt, q, v, rates, accelerations, d, q_stage, v_stage)


@kernel
def stage_rates_kernel(
    robot: Matrix,
    work: Matrix,
    mass: Matrix,
    bias: Vector,
    lead: float,
    dt: float,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
    tau: Vector,
    rate: Vector,
    acceleration: Vector,
) -> int:
    """Write the rates of displacement and velocity of a stage; return the status."""
    return _stage_rates(
        robot, work, mass, bias, lead, dt, d, q_stage, v_stage, tau, rate, acceleration
    )


@kernel
def advance_kernel(
    robot: Matrix,
    work: Matrix,
    mass: Matrix,
    bias: Vector,
    table: Matrix,
    lead: float,
    rates: Matrix,
    accelerations: Matrix,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: float,
    steps: int,
) -> tuple[int, int]:
    """
    Move `q` and `v` on by a block of steps under one effort.

    Return a status as `aba_kernel` does, and the number of steps that went well; the state is that
    after the last good one.

    """
    stages = table.shape[1]
    for step in range(steps):
        for i in range(stages):
            _stage_state(robot, table, i, dt, q, v, rates, accelerations, d, q_stage, v_stage)
            rate = rates[i]
            acceleration = accelerations[i]
            status = _stage_rates(
                robot, work, mass, bias, lead, dt, d, q_stage, v_stage, tau, rate, acceleration
            )
            if status != OK:
                return status, step
        _stage_state(robot, table, stages, dt, q, v, rates, accelerations, d, q_stage, v_stage)
        if not (is_finite(q_stage) and is_finite(v_stage)):
            return NOT_FINITE, step
        for k in range(q.size):
            q[k] = q_stage[k]
        for k in range(v.size):
            v[k] = v_stage[k]
    return OK, steps


@kernel
def record_kernel(
    robot: Matrix,
    work: Matrix,
    mass: Matrix,
    bias: Vector,
    table: Matrix,
    lead: float,
    rates: Matrix,
    accelerations: Matrix,
    d: Vector,
    q_stage: Vector,
    v_stage: Vector,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: float,
    steps: int,
    every: int,
    q_record: Matrix,
    v_record: Matrix,
) -> tuple[int, int]:
    """
    Move on like `advance_kernel`, and write the state after every `every` steps and at the end.

    Row 0 of the records is the start, which is not written.

    """
    done = 0
    for row in range(1, q_record.shape[0]):
        status, moved = advance_kernel(
            robot, work, mass, bias, table, lead, rates, accelerations, d, q_stage, v_stage,
            q, v, tau, dt, min(every, steps - done),
        )  # fmt: skip
        done += moved
        if status != OK:
            return status, done
        for k in range(q.size):
            q_record[row, k] = q[k]
        for k in range(v.size):
            v_record[row, k] = v[k]
    return OK, done

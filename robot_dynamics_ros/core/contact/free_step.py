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
Free motion over one step: the classical Runge-Kutta method of order four, or semi-implicit Euler.

A robot that can touch nothing and rubs nowhere needs no other kernel, which is compiled soon.

The coordinates of a free body, quaternion included, are integrated as they are and the quaternion
is given unit length afterwards, which changes no pose.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.configuration_step import (
    configuration_rate,
    normalise_quaternions,
    step_configuration,
)
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    BY_ACTUATORS,
    BY_WRENCHES,
    DISPLACEMENT,
    EFFORT,
    EXTERNAL,
    EXTERNAL_WORK,
    GENERALIZED,
    Q,
    Q_NEW,
    Q_RATE,
    Q_STAGE,
    RATES,
    SEMI_IMPLICIT,
    STAGE,
    STEPS,
    TAU,
    V_,
    V_AHEAD,
    V_NEW,
)
from robot_dynamics_ros.core.dynamics.aba import aba_kernel
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts_kernel
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.mimic_dynamics import mimic_dynamics_kernel
from robot_dynamics_ros.core.jit import lean_kernel
from robot_dynamics_ros.core.model.kernel_layout import MIMIC


@piece
def _accelerate(
    robot: Matrix,
    work: Matrix,
    wrenches: Matrix,
    options: Vector,
    vs: Matrix,
    q: Vector,
    v: Vector,
    a: Vector,
) -> int:
    """Write the accelerations under the held effort and the wrenches; return ABA's status."""
    effort = vs[EFFORT]
    if options[EXTERNAL] != 0.0:
        total = vs[V_AHEAD]
        external_efforts_kernel(robot, work, q, wrenches, vs[GENERALIZED])
        for i in range(v.size):
            total[i] = effort[i] + vs[GENERALIZED, i]
        effort = total
    if robot[0, MIMIC] != 0.0:
        return mimic_dynamics_kernel(robot, work, q, v, effort, a)
    return aba_kernel(robot, work, q, v, effort, a)


@piece
def _power(options: Vector, vs: Matrix, v: Vector) -> float:
    total = 0.0
    if options[EXTERNAL] != 0.0:
        for i in range(v.size):
            total += vs[GENERALIZED, i] * v[i]
    return total


@piece
def _semi_implicit_step(
    robot: Matrix,
    work: Matrix,
    wrenches: Matrix,
    options: Vector,
    qs: Matrix,
    vs: Matrix,
    report: Vector,
    h: float,
) -> int:
    """Step once with the velocity first; return ABA's status."""
    status = _accelerate(robot, work, wrenches, options, vs, qs[Q], vs[V_], vs[RATES])
    v_new = vs[V_NEW]
    for i in range(v_new.size):
        v_new[i] = vs[V_, i] + h * vs[RATES, i]
        vs[DISPLACEMENT, i] = h * v_new[i]
    report[EXTERNAL_WORK] = h * _power(options, vs, v_new)
    step_configuration(robot, qs[Q], v_new, v_new, h, qs[Q_NEW])
    return status


@piece
def free_step(
    robot: Matrix,
    work: Matrix,
    wrenches: Matrix,
    options: Vector,
    qs: Matrix,
    vs: Matrix,
    report: Vector,
    h: float,
) -> int:
    """Step once with the integrator of the options; return ABA's status. See `step_arrays`."""
    if options[SEMI_IMPLICIT] != 0.0:
        return _semi_implicit_step(robot, work, wrenches, options, qs, vs, report, h)
    q = qs[Q]
    v = vs[V_]
    q_new = qs[Q_NEW]
    v_new = vs[V_NEW]
    stage = vs[STAGE]
    moved = vs[DISPLACEMENT]
    q_stage = qs[Q_STAGE]
    n = v.size
    is_flat = q.size == n  # no free joint: velocities are the rates of the coordinates
    for i in range(n):
        stage[i] = v[i]
        moved[i] = 0.0
        v_new[i] = v[i]
    for j in range(q.size):
        q_stage[j] = q[j]
        q_new[j] = q[j]
    worked = 0.0
    status = -1
    for k in range(4):
        weight = h / 6.0 if k == 0 or k == 3 else h / 3.0
        ahead = h if k == 2 else 0.5 * h
        a = vs[RATES + k]
        rate = qs[Q_RATE + k]
        answer = _accelerate(robot, work, wrenches, options, vs, q_stage, stage, a)
        if answer != -1:
            status = answer
        worked += weight * _power(options, vs, stage)
        if is_flat:
            for i in range(n):
                rate[i] = stage[i]
        else:
            configuration_rate(robot, q_stage, stage, rate)
        for i in range(n):
            moved[i] += weight * stage[i]
            v_new[i] += weight * a[i]
            stage[i] = v[i] + ahead * a[i]
        for j in range(q.size):
            q_new[j] += weight * rate[j]
            q_stage[j] = q[j] + ahead * rate[j]
    if not is_flat:
        normalise_quaternions(robot, q_new)
    report[EXTERNAL_WORK] = worked
    return status


@lean_kernel
def free_sequence(
    robot: Matrix,
    work: Matrix,
    wrenches: Matrix,
    options: Vector,
    qs: Matrix,
    vs: Matrix,
    works: Vector,
    report: Vector,
    h: float,
    count: int,
    tau: Matrix,
    q: Matrix,
    v: Matrix,
) -> int:
    """
    Make `count` free steps of length `h` under each row of `tau` and write the states.

    Return -1, or -2 if a number is not finite, or the degree of freedom that moves no inertia, at
    the first step that fails.

    """
    rate = 1.0 / h
    for k in range(tau.shape[0]):
        for i in range(tau.shape[1]):
            vs[TAU, i] = tau[k, i]
            vs[EFFORT, i] = tau[k, i]
        for _ in range(count):
            status = free_step(robot, work, wrenches, options, qs, vs, report, h)
            if status != -1:
                return status
            if not (is_finite(vs[V_NEW]) and is_finite(qs[Q_NEW])):
                return -2
            worked = 0.0
            for i in range(vs.shape[1]):
                worked += vs[TAU, i] * vs[DISPLACEMENT, i]
                vs[ACCELERATION, i] = rate * (vs[V_NEW, i] - vs[V_, i])
                vs[V_, i] = vs[V_NEW, i]
            for j in range(qs.shape[1]):
                qs[Q, j] = qs[Q_NEW, j]
            works[BY_ACTUATORS] += worked
            works[BY_WRENCHES] += report[EXTERNAL_WORK]
            report[STEPS] += 1.0
        for j in range(q.shape[1]):
            q[k, j] = qs[Q, j]
        for i in range(v.shape[1]):
            v[k, i] = vs[V_, i]
    return -1

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

The coordinates of a free body, quaternion included, are integrated as they are and the quaternion
is given unit length afterwards, which changes no pose.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.configuration_step import (
    configuration_rate,
    normalise_quaternions,
    step_configuration,
)
from robot_dynamics_ros.core.contact.step_arrays import (
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
    StepArrays,
    V_,
    V_AHEAD,
    V_NEW,
)
from robot_dynamics_ros.core.dynamics.aba import aba_kernel
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts_kernel
from robot_dynamics_ros.core.dynamics.mimic_dynamics import mimic_dynamics_kernel
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import MIMIC


@part
def _accelerate(s: StepArrays, q: Vector, v: Vector, a: Vector) -> int:
    """Write the accelerations under the held effort and the wrenches; return ABA's status."""
    effort = s.vs[EFFORT]
    if s.options[EXTERNAL] != 0.0:
        total = s.vs[V_AHEAD]
        external_efforts_kernel(s.robot, s.work, q, s.wrenches, s.vs[GENERALIZED])
        for i in range(v.size):
            total[i] = effort[i] + s.vs[GENERALIZED, i]
        effort = total
    if s.robot[0, MIMIC] != 0.0:
        return mimic_dynamics_kernel(s.robot, s.work, q, v, effort, a)
    return aba_kernel(s.robot, s.work, q, v, effort, a)


@inner
def _power(s: StepArrays, v: Vector) -> float:
    total = 0.0
    if s.options[EXTERNAL] != 0.0:
        for i in range(v.size):
            total += s.vs[GENERALIZED, i] * v[i]
    return total


@part
def semi_implicit_step(s: StepArrays, h: float) -> int:
    """Step once with the velocity first; return ABA's status."""
    a = s.vs[RATES]
    status = _accelerate(s, s.qs[Q], s.vs[V_], a)
    for i in range(a.size):
        s.vs[V_NEW, i] = s.vs[V_, i] + h * a[i]
        s.vs[DISPLACEMENT, i] = h * s.vs[V_NEW, i]
    s.report[EXTERNAL_WORK] = h * _power(s, s.vs[V_NEW])
    step_configuration(s.robot, s.qs[Q], s.vs[V_NEW], s.vs[V_NEW], h, s.qs[Q_NEW])
    return status


@part
def runge_kutta_step(s: StepArrays, h: float) -> int:
    """Step once with four evaluations; return ABA's status."""
    q = s.qs[Q]
    v = s.vs[V_]
    q_new = s.qs[Q_NEW]
    v_new = s.vs[V_NEW]
    stage = s.vs[STAGE]
    moved = s.vs[DISPLACEMENT]
    q_stage = s.qs[Q_STAGE]
    n = v.size
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
        a = s.vs[RATES + k]
        rate = s.qs[Q_RATE + k]
        answer = _accelerate(s, q_stage, stage, a)
        if answer != -1:
            status = answer
        configuration_rate(s.robot, q_stage, stage, rate)
        worked += weight * _power(s, stage)
        for i in range(n):
            moved[i] += weight * stage[i]
            v_new[i] += weight * a[i]
            stage[i] = v[i] + ahead * a[i]
        for j in range(q.size):
            q_new[j] += weight * rate[j]
            q_stage[j] = q[j] + ahead * rate[j]
    s.report[EXTERNAL_WORK] = worked
    normalise_quaternions(s.robot, q_new)
    return status


@part
def free_step(s: StepArrays, h: float) -> int:
    """Step once with the integrator of the options; return ABA's status."""
    if s.options[SEMI_IMPLICIT] != 0.0:
        return semi_implicit_step(s, h)
    return runge_kutta_step(s, h)

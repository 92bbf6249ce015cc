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
Forward dynamics of a model in which joints share a degree of freedom.

The articulated body algorithm needs a joint's freedom to be its own. With mimic joints the mass
matrix, which is exactly reduced, is factored instead: :math:`M(q)\,a = \tau - h(q, v)`.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.mass_matrix_inverse import factor, solve
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.jit import allocating_kernel
from robot_dynamics_ros.core.model.kernel_layout import WORK_WIDTH

OK = -1
NOT_FINITE = -2


@allocating_kernel
def mimic_dynamics_kernel(
    robot: Matrix, work: Matrix, q: Vector, v: Vector, tau: Vector, a: Vector
) -> int:
    """Write the accelerations to `a`; return a status as `aba_kernel` does."""
    nv = v.size
    mass = np.empty((nv, nv))
    finite = crba_kernel(robot, work, q, mass)
    a[:] = 0.0
    bias = np.empty(nv)
    finite &= rnea_kernel(robot, work, q, v, a, bias)
    if not (finite and is_finite(tau)):
        return NOT_FINITE
    singular = factor(mass)
    if singular >= 0:
        return singular
    for k in range(nv):
        a[k] = tau[k] - bias[k]
    solve(mass, a)
    return OK if is_finite(a) else NOT_FINITE


@allocating_kernel
def mimic_dynamics_block_kernel(
    robot: Matrix, q: Matrix, v: Matrix, tau: Matrix, a: Matrix
) -> int:
    """Write the accelerations of many samples; return the first without an answer, or -1."""
    work = np.empty((robot.shape[0], WORK_WIDTH))
    bad = -1
    for s in range(q.shape[0]):
        if mimic_dynamics_kernel(robot, work, q[s], v[s], tau[s], a[s]) != OK and bad < 0:
            bad = s
    return bad

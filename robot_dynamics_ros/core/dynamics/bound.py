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
The dynamics of one model, ready for a control loop.

Compiled, without checks, into given arrays.

"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.aba import forward_dynamics_kernel
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.gravity import gravity_kernel
from robot_dynamics_ros.core.dynamics.regressor import regressor_kernel
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.jit import entry_point
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel


class BoundDynamics:
    """
    Unchecked, allocation-free calls for one model and one thread.

    Each call writes to an array that the caller gives. All arrays are float64, contiguous and
    writable, of the sizes named below; nothing of this is looked at. Make the object before the
    control loop starts: the kernels are compiled, or loaded, here. Use one object for each thread,
    since its calls share one work array. For checked calls use the functions of
    `robot_dynamics_ros.core.dynamics`.

    Parameters
    ----------
    model : RobotModel
        The robot.

    Attributes
    ----------
    model : RobotModel
        The robot.
    rnea : callable
        ``rnea(q, v, a, tau) -> bool``: efforts, without friction [N m | N]; true if all numbers
        are finite.
    generalized_gravity : callable
        ``generalized_gravity(q, g) -> bool``: gravity efforts [N m | N]; true if all numbers are
        finite.
    crba : callable
        ``crba(q, M) -> bool``: mass matrix, shape (nv, nv); true if all numbers are finite.
    aba : callable
        ``aba(q, v, tau, a) -> int``: accelerations; -1 if they are right, -2 if a number is not
        finite, or else the degree of freedom that moves no inertia.
    joint_torque_regressor : callable
        ``joint_torque_regressor(q, v, a, Y) -> bool``: regressor, shape (nv, 10 nbodies); true if
        all numbers are finite.

    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        work = np.empty(model.work_shape)
        q = neutral(model)
        v, a, tau = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
        square = np.empty((model.nv, model.nv))
        robot = model.kernel
        forward = forward_dynamics_kernel(model)
        self.rnea = _bind(rnea_kernel, robot, work, q, v, a, tau)
        self.generalized_gravity = _bind(gravity_kernel, robot, work, q, tau)
        self.crba = _bind(crba_kernel, robot, work, q, square)
        self.aba = _bind(forward, robot, work, q, v, tau, a)
        self._rest = np.zeros(model.nv)

    @cached_property
    def joint_torque_regressor(self) -> Callable[..., bool]:
        """Return the regressor's call; its kernel is compiled when it is first asked for."""
        model = self.model
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        regressor = np.empty((model.nv, 10 * model.nbodies))
        work = np.empty(model.work_shape)
        return _bind(regressor_kernel, model.kernel, work, neutral(model), v, a, regressor)

    def nonlinear_effects(self, q: Vector, v: Vector, h: Vector) -> bool:
        """Write ``C(q, v) v + g(q)`` to `h` [N m | N]; return whether all numbers are finite."""
        return bool(self.rnea(q, v, self._rest, h))


def _bind(
    kernel: Callable[..., Any], robot: Matrix, work: Matrix, *arguments: Matrix
) -> Callable[..., Any]:
    """Compile a kernel for these arguments and bind the model and its work array."""
    return partial(entry_point(kernel, robot, work, *arguments), robot, work)

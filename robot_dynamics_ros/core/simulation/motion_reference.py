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
Motion with error control: DOP853, the method of Dormand and Prince of order 8.

It is the reference for the integrators with fixed steps, and takes another way than they do: the
pose of a free joint is integrated as seven plain numbers, with :math:`\dot p = R v` and
:math:`\dot h = \tfrac12 h \circ (\omega, 0)` for the quaternion :math:`h`. Its length then
stays at one only up to the tolerance, which does not matter to the dynamics; it is brought to one
at the end.

References
----------
.. [1] E. Hairer, S. P. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, 1993,
   sec. II.5 and II.10.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.dynamics import aba
from robot_dynamics_ros.core.exceptions import NonFiniteError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.spatial.rotation import quaternion_product, rotation_from_quaternion

TOLERANCE = 1e-12
"""Relative and absolute error of a step [rad, m, rad/s, m/s]."""


class ReferenceMotion:
    """
    Motion of one model with error control.

    Parameters
    ----------
    model : RobotModel
        The robot.

    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        free = [joint for joint in model.joints if joint.type is JointType.FLOATING]
        self._free = [(joint.q_index, joint.v_index) for joint in free]
        single = np.ones(model.nq, dtype=bool)
        moved = np.ones(model.nv, dtype=bool)
        for iq, iv in self._free:
            single[iq : iq + 7] = False
            moved[iv : iv + 6] = False
        self._single, self._moved = single, moved
        self._step: float | None = None

    def advance(
        self,
        q: Vector,
        v: Vector,
        tau: Callable[[float, Vector, Vector], Any],
        time: float,
        duration: float,
    ) -> None:
        """
        Move a state on, in place.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Joint positions [rad | m].
        v : ndarray, shape (nv,)
            Joint velocities [rad/s | m/s].
        tau : callable
            Efforts ``tau(t, q, v)`` [N m | N].
        time, duration : float
            Start and length [s].

        Raises
        ------
        DimensionError
            If the efforts have another shape than ``(nv,)``.
        NonFiniteError
            If an effort or a number of the motion is not finite.
        NotNumericError
            If the efforts are not real numbers.
        SingularMassMatrixError
            If a degree of freedom moves no inertia.

        """
        if not duration > 0.0:
            return
        nq = len(q)

        def rate(t: float, x: Vector) -> Vector:
            if not np.isfinite(x).all():
                raise NonFiniteError('the simulated state', f' at {t:.6g} s')
            efforts = as_finite('tau', tau(t, x[:nq].copy(), x[nq:].copy()), (len(v),))
            a = aba(self.model, x[:nq], x[nq:], efforts)
            return np.concatenate((self._position_rate(x[:nq], x[nq:]), a))

        end = time + duration
        first = None if self._step is None else min(self._step, end - time)
        solver = DOP853(
            rate, time, np.concatenate((q, v)), end,
            rtol=TOLERANCE, atol=TOLERANCE, first_step=first,
        )  # fmt: skip
        while solver.status == 'running':
            solver.step()
            if solver.status == 'failed':
                raise NonFiniteError('the simulated state', f' after {solver.t:.6g} s')
        self._step = float(solver.h_abs)
        q[:], v[:] = solver.y[:nq], solver.y[nq:]
        for iq, _ in self._free:
            q[iq + 3 : iq + 7] /= np.linalg.norm(q[iq + 3 : iq + 7])

    def _position_rate(self, q: Vector, v: Vector) -> Vector:
        rate = np.empty(len(q))
        rate[self._single] = v[self._moved]
        for iq, iv in self._free:
            quaternion = q[iq + 3 : iq + 7]
            rate[iq : iq + 3] = rotation_from_quaternion(quaternion) @ v[iv : iv + 3]
            spin = np.append(0.5 * v[iv + 3 : iv + 6], 0.0)
            rate[iq + 3 : iq + 7] = quaternion_product(quaternion, spin)
        return rate

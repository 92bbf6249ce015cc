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
The motion of a robot under given efforts: six integrators behind one call.

=================  =====  ====================================================================
name               order  step
=================  =====  ====================================================================
``euler``          1      :math:`q_+ = q \oplus \Delta t\,v,\; v_+ = v + \Delta t\,a(q, v)`
``semi_implicit``  1      :math:`v_+ = v + \Delta t\,a(q, v),\; q_+ = q \oplus \Delta t\,v_+`
``midpoint``       2      rates at the state that half an Euler step leads to
``heun``           2      mean of the rates at both ends of an Euler step
``rk4``            4      the classical method of Kutta
``adaptive``       8      DOP853 of Dormand and Prince with error control: the reference
=================  =====  ====================================================================

:math:`\oplus` is a sum for joints of one coordinate and for planar ones, and a screw motion for
free ones; see `motion_steps`. The first five make a block of steps in one compiled call.

References
----------
.. [1] E. Hairer, S. P. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, 1993,
   tables II.1.1 and II.1.2, sec. II.5.
.. [2] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006, sec. I.1.2
   (semi-implicit Euler, there called symplectic).

"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.free_motion import FreeMotion, INTEGRATORS

__all__ = ['FreeMotion', 'INTEGRATORS', 'Motion', 'simulate_motion']


@dataclass(frozen=True, eq=False)
class Motion:
    """
    A motion at some instants; the arrays are read-only.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Instants [s]; the first is the start, the last the end.
    q : ndarray, shape (n, nq)
        Joint positions [rad | m].
    v : ndarray, shape (n, nv)
        Joint velocities [rad/s | m/s].

    """

    time: Vector
    q: Matrix
    v: Matrix

    def __post_init__(self) -> None:
        for name in ('time', 'q', 'v'):
            object.__setattr__(self, name, frozen(getattr(self, name), name))


def simulate_motion(
    model: RobotModel,
    q: Any,
    v: Any,
    tau: Any,
    *,
    dt: float,
    steps: int,
    integrator: str = 'rk4',
    record_every: int = 1,
) -> Motion:
    """
    Compute a motion from a state on.

    Parameters
    ----------
    model : RobotModel
        The robot, on a fixed or floating base, with joints of any type. Its friction and its
        limits do not act: put friction into `tau`.
    q : array_like, shape (nq,)
        Joint positions at the start [rad | m]; quaternions need not have length one.
    v : array_like, shape (nv,)
        Joint velocities at the start [rad/s | m/s].
    tau : array_like, shape (nv,), or callable
        Efforts that are held [N m | N], or ``tau(t, q, v)``, which is asked in every stage, with
        `t` from 0.
    dt : float
        Length of a step [s]. With ``adaptive`` it only says when the motion is recorded.
    steps : int
        Number of steps.
    integrator : str
        One of `INTEGRATORS`.
    record_every : int
        Steps from one recorded instant to the next; the last one is always recorded.

    Returns
    -------
    motion : Motion
        From time 0 to ``steps * dt``.

    Raises
    ------
    ConfigurationError
        If the integrator is unknown, `dt` is not positive, a number of steps is wrong, or a
        quaternion has no length.
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is not finite, or the state does not stay finite; the message says when.
    NotNumericError
        If a vector is not made of real numbers.
    SingularMassMatrixError
        If a degree of freedom moves no inertia; the message names it.

    Examples
    --------
    A point mass falls for one second:

    >>> from robot_dynamics_ros.core.model.build import build_model
    >>> from robot_dynamics_ros.core.model.description import Inertial, Link, RobotDescription
    >>> from robot_dynamics_ros.core.model.robot_model import neutral
    >>> stone = Link('stone', Inertial(1.0, [0, 0, 0], 0.01 * np.eye(3)))
    >>> model = build_model(RobotDescription('stone', (stone,), ()), floating_base=True)
    >>> motion = simulate_motion(model, neutral(model), np.zeros(6), np.zeros(6), dt=0.1, steps=10)
    >>> print(f'{motion.q[-1, 2]:.3f} m')
    -4.905 m

    """
    v = np.array(as_finite('v', v, (model.nv,)))
    q = _unit(model, as_finite('q', q, (model.nq,)))
    if not 0.0 < dt < np.inf:
        raise ConfigurationError(f'dt is {dt} s, expected > 0')
    dt = float(dt)
    steps = _count('steps', steps, 0)
    record_every = _count('record_every', record_every, 1)
    free = FreeMotion(model, integrator)
    marks = np.append(np.arange(0, steps, record_every), steps)
    q_record, v_record = np.empty((len(marks), model.nq)), np.empty((len(marks), model.nv))
    q_record[0], v_record[0] = q, v
    if not callable(tau):
        held = as_finite('tau', tau, (model.nv,))
        free.record(q, v, held, dt, steps, record_every, q_record, v_record)
        return Motion(marks * dt, q_record, v_record)
    for row in range(1, len(marks)):
        for k in range(marks[row - 1], marks[row]):
            free.step(q, v, tau, k * dt, dt)
        q_record[row], v_record[row] = q, v
    return Motion(marks * dt, q_record, v_record)


def _unit(model: RobotModel, q: Vector) -> Vector:
    """Return a configuration with its quaternions brought to length one."""
    q = np.array(q)
    for joint in model.joints:
        if joint.type is JointType.FLOATING:
            quaternion = q[joint.q_index + 3 : joint.q_index + 7]
            length = np.linalg.norm(quaternion)
            if not length > 0.0:
                raise ConfigurationError(
                    f"q holds a quaternion of length 0 at joint '{joint.name}', expected x y z w "
                    'of length 1'
                )
            quaternion /= length
    return q


def _count(name: str, value: Any, least: int) -> int:
    try:
        count = index(value)
    except TypeError:
        count = least - 1
    if count < least:
        raise ConfigurationError(f'{name} is {value!r:.40}, expected a whole number >= {least}')
    return count

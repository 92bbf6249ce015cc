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
The springs of elastic joints in a step: between the coordinate of a link and that of its motor.

With the stretch :math:`s = \theta - q`, stiffness `k` and damping `d`, a step that moves with the
mean of the velocities at its ends takes the spring at its middle, which is the trapezoidal rule,

.. math:: h\,f = h\,\bigl(k\,s + \tfrac{h}{4} k\,(\dot s + \dot s^+)
                  + \tfrac12 d\,(\dot s + \dot s^+)\bigr),

so the energy of a spring without damping is kept to rounding. A step that moves with the velocity
at its end takes :math:`h\,f = h\,(k\,s + \tfrac{h}{2} k\,\dot s^+ + d\,\dot s^+)`, of which the
same is true. A spring that swings or is damped so fast that the step does not resolve it would
then ring from step to step: it takes :math:`h\,f = h\,(k\,s + h\,k\,\dot s^+ + d\,\dot
s^+)` and stretches by the velocity at the end, which lets that die away by a quarter or more a
step. All are linear in the velocity at the
end and enter the mass matrix as a symmetric coupling of the two coordinates, so that stiffness
limits no step.

References
----------
.. [1] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006, sections II.1 and
       VI.6.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.step_arrays import (
    COORDINATE,
    DISPLACEMENT,
    Indices,
    MOMENTUM,
    MOTOR,
    Q,
    Q_NEW,
    SPRING,
    SPRING_DAMPING,
    SPRING_STEP,
    SPRING_STIFFNESS,
    V_,
    V_NEW,
)


@part
def stretch_springs(constants: Matrix, marks: Indices, qs: Matrix, vs: Matrix) -> None:
    """Write the torques of the springs on links and motors at the present state."""
    for i in range(vs.shape[1]):
        vs[SPRING, i] = 0.0
    for i in range(vs.shape[1]):
        j = int(constants[MOTOR, i])
        if j >= 0:
            stretch = qs[Q, marks[COORDINATE, j]] - qs[Q, marks[COORDINATE, i]]
            torque = constants[SPRING_STIFFNESS, i] * stretch
            torque += constants[SPRING_DAMPING, i] * (vs[V_, j] - vs[V_, i])
            vs[SPRING, i] += torque
            vs[SPRING, j] -= torque


@part
def couple_springs(constants: Matrix, vs: Matrix, mass: Matrix, h: float, is_end: bool) -> None:
    """Add the springs to mass matrix and momentum of a step, after `stretch_springs`."""
    for i in range(vs.shape[1]):
        j = int(constants[MOTOR, i])
        if j < 0:
            continue
        stiffness = constants[SPRING_STIFFNESS, i]
        damping = constants[SPRING_DAMPING, i]
        rate = vs[V_, j] - vs[V_, i]
        impulse = h * (vs[SPRING, i] - damping * rate)
        coupling = 0.5 * h * (0.5 * h * stiffness + damping)
        if coupling * (1.0 / mass[i, i] + 1.0 / mass[j, j]) > 1.0:
            coupling = h * (h * stiffness + damping)
        elif is_end:
            coupling = h * (0.5 * h * stiffness + damping)
        else:
            impulse += coupling * rate
        vs[SPRING_STEP, i] = impulse
        vs[SPRING_STEP, j] = coupling
        mass[i, i] += coupling
        mass[j, j] += coupling
        mass[i, j] -= coupling
        mass[j, i] -= coupling
        vs[MOMENTUM, i] += impulse
        vs[MOMENTUM, j] -= impulse


@part
def settle_stiff_springs(
    constants: Matrix, marks: Indices, mass: Matrix, qs: Matrix, vs: Matrix, h: float
) -> None:
    """
    Let the springs that a step does not resolve stretch by the velocity at its end.

    With the mean velocity a jump of the velocity would leave a stretch of half a step, which is
    more energy than there was. The middle of both masses moves as it did, and the displacement
    that counts for works stays the mean one.

    """
    for i in range(vs.shape[1]):
        j = int(constants[MOTOR, i])
        if j < 0:
            continue
        coupling = vs[SPRING_STEP, j]
        stiff = h * (h * constants[SPRING_STIFFNESS, i] + constants[SPRING_DAMPING, i])
        if coupling < stiff:
            continue
        link = mass[i, i] - coupling
        motor = mass[j, j] - coupling
        stretch = h * (vs[V_NEW, j] - vs[V_NEW, i])
        missing = stretch - (vs[DISPLACEMENT, j] - vs[DISPLACEMENT, i])
        back = missing * motor / (link + motor)
        ahead = missing * link / (link + motor)
        qs[Q_NEW, marks[COORDINATE, i]] -= back
        qs[Q_NEW, marks[COORDINATE, j]] += ahead


@part
def spring_loss(constants: Matrix, marks: Indices, qs: Matrix, vs: Matrix, h: float) -> float:
    """Return the energy that the springs took and do not store, in a step that is made."""
    total = 0.0
    for i in range(vs.shape[1]):
        j = int(constants[MOTOR, i])
        if j >= 0:
            stretch = qs[Q, marks[COORDINATE, j]] - qs[Q, marks[COORDINATE, i]]
            after = qs[Q_NEW, marks[COORDINATE, j]] - qs[Q_NEW, marks[COORDINATE, i]]
            moved = vs[DISPLACEMENT, j] - vs[DISPLACEMENT, i]
            rate = vs[V_NEW, j] - vs[V_NEW, i]
            torque = (vs[SPRING_STEP, i] + vs[SPRING_STEP, j] * rate) / h
            stored = 0.5 * constants[SPRING_STIFFNESS, i] * (after * after - stretch * stretch)
            total += moved * torque - stored
    return total

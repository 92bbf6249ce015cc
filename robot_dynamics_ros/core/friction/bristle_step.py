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
A time step of joints with bristle friction: the models of LuGre and of Dahl.

The contact in a joint is a brush whose mean deflection is `z`. With the level of sliding friction
:math:`g(v)` of the Stribeck curve,

.. math:: \dot z = v\,u^p, \quad u = 1 - \frac{\sigma_0\,\mathrm{sgn}(v)\,z}{g(v)}, \qquad
          \tau_f = \sigma_0\,z + \sigma_1\,\dot z + b\,v

LuGre's model has :math:`p = 1`; Dahl's has a constant `g` and :math:`\sigma_1 = 0`. For a given
displacement `x` in one direction the brush can be integrated in closed form (for :math:`p = 1` it
is :math:`u^+ = u\,e^{-\sigma_0 |x| / g}`), so that nothing limits the stiffness. In a step with
the velocity :math:`v^+` at its end, ``x = dt v+`` and

.. math:: \tau_f^+ = \sigma_0\,z^+ + \sigma_1\,(z^+ - z) / \Delta t + b\,v^+

is a function of :math:`v^+` alone when the level is taken at the velocity before the step. It
rises monotonically, with the slope :math:`(\sigma_0 \Delta t + \sigma_1)\,(u^+)^p + b`. Hence
``M (v+ - v_free) + dt (tau+ - tau_held) = 0`` is the condition for the minimum of a strictly
convex function: there is one solution for any step. It is found together with contacts and limits,
see `rigid_contact`.

When a joint starts to slide, `g` falls below :math:`\sigma_0 |z|` and the brush relaxes while the
joint goes on, :math:`u < 0`. The torque of the step then takes :math:`\sigma_0 z` as it was, and
the relaxation counts from the next step on. Its term of :math:`\sigma_1` acts against viscous
friction. It is limited to that: where ``b >= sigma_1 (F_s - F_c) / F_c`` this is LuGre's model
itself, and where that condition for its passivity [2]_ fails, it is the model with the damping
bounded such that it holds. So the step takes energy always: with :math:`W = \sigma_0 z^2 / 2`,
``dt v+ tau+ >= W+ - W``.

References
----------
.. [1] C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of
       systems with friction", IEEE Trans. Automatic Control 40, 1995.
.. [2] N. Barabanov, R. Ortega, "Necessary and sufficient conditions for passivity of the LuGre
       friction model", IEEE Trans. Automatic Control 45, 2000.
.. [3] P. R. Dahl, *A solid friction model*, Aerospace Corporation TOR-0158, 1968.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.jit import inner

# Rows of the packed law: the first six are those of `DryFriction.packed`.
VISCOUS = 0
LEVEL = 1
"""Coulomb level for positive velocity; the next row is that for negative velocity."""
RATIO = 3
STRIBECK = 4
VISCOUS_NEGATIVE = 5
STIFFNESS = 6
DAMPING = 7
EXPONENT = 8
LAW_ROWS = 9

# Rows of the work array; each pair is for positive and for negative velocity. A solver calls
# `prepare_bristle` once, `bristle_torque` for each velocity that it tries, and `relax_bristle` in
# the end.
REACH = 0
"""Deflection at which the brush slides [rad | m]."""
_LEFT = 2
"""The value of `u` at the start, not below zero."""
_LINEAR = 4
"""Viscous friction less the term of the damping while the brush relaxes."""
TORQUE = 6
SLOPE = 7
WORK_ROWS = 8


@inner
def _released(u: float, way: float, exponent: float) -> float:
    """Return how much of `u` is gone after the relative displacement ``way >= 0``."""
    if exponent == 1.0:
        return -u * math.expm1(-way)
    size = abs(u)
    if size == 0.0:
        return 0.0
    rate = (exponent - 1.0) * way * size ** (exponent - 1.0)
    if rate <= -1.0:
        return u
    return -u * math.expm1(math.log1p(rate) / (1.0 - exponent))


@inner
def bristle_torque(
    law: Matrix, work: Matrix, i: int, dt: float, z: float, v: float, up: bool
) -> None:
    """Write torque and slope of joint `i` at the end velocity `v`; `up` is its side at zero."""
    side = 0 if v > 0.0 or (v == 0.0 and up) else 1
    sign = 1.0 - 2.0 * side
    reach = work[REACH + side, i]
    left = work[_LEFT + side, i]
    linear = work[_LINEAR + side, i]
    if reach == 0.0:
        work[TORQUE, i] = linear * v
        work[SLOPE, i] = linear
        return
    stiffness = law[STIFFNESS, i] + law[DAMPING, i] / dt
    exponent = law[EXPONENT, i]
    gone = _released(left, dt * abs(v) / reach, exponent)
    rest = left - gone
    slope = rest if exponent == 1.0 else (rest**exponent if rest > 0.0 else 0.0)
    work[TORQUE, i] = law[STIFFNESS, i] * z + stiffness * sign * reach * gone + linear * v
    work[SLOPE, i] = stiffness * dt * slope + linear


@inner
def prepare_bristle(law: Matrix, work: Matrix, i: int, dt: float, z: Vector, v: float) -> None:
    """Write what the torque of joint `i` needs besides the velocity at the end."""
    speed = v / law[STRIBECK, i]
    rise = 1.0 + (law[RATIO, i] - 1.0) * math.exp(-speed * speed)
    if law[LEVEL, i] <= 0.0 and law[LEVEL + 1, i] <= 0.0:
        z[i] = 0.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        viscous = law[VISCOUS if side == 0 else VISCOUS_NEGATIVE, i]
        reach = law[LEVEL + side, i] * rise / law[STIFFNESS, i]
        work[REACH + side, i] = reach
        work[_LEFT + side, i] = 0.0
        work[_LINEAR + side, i] = viscous
        if reach == 0.0:
            continue
        left = 1.0 - sign * z[i] / reach
        work[_LEFT + side, i] = max(left, 0.0)
        if left < 0.0 and sign * v > 0.0:
            way = abs(v) * dt
            gone = -reach * _released(left, way / reach, law[EXPONENT, i])
            work[_LINEAR + side, i] = max(viscous - law[DAMPING, i] * gone / way, 0.0)


@inner
def relax_bristle(law: Matrix, work: Matrix, i: int, dt: float, z: Vector, v: float) -> None:
    """Move the deflection of joint `i` on by a step with the end velocity `v`."""
    side = 0 if v > 0.0 else 1
    reach = work[REACH + side, i]
    if reach > 0.0:
        sign = 1.0 - 2.0 * side
        left = 1.0 - sign * z[i] / reach
        way = dt * abs(v) / reach
        z[i] += sign * reach * _released(left, way, law[EXPONENT, i])

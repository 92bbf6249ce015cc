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
What one contact, or one row at a joint, answers to a velocity, and the derivative of that.

A round of the solver (see `rigid_contact`) sees a rigid contact as soft: with the impulse
:math:`\ell` of the round before, a penalty :math:`\rho` and the velocity :math:`u` of the contact
it takes :math:`y = \ell - \rho\,u` and

* *Coulomb's disc*: :math:`\lambda_n = \max(0, y_n)`, and :math:`\lambda_t` is :math:`y_t` brought
  into the disc of radius :math:`\mu\,\lambda_n`. This is the law itself, but its derivative is not
  symmetric where the contact slides.
* *cone*: :math:`\lambda` is the projection of :math:`y - \rho\,s\,n` on the cone of friction. With
  :math:`s = \mu\,|u_t|` this is the same law (de Saxcé), and for a given :math:`s` it is the
  derivative of a convex function.

A compliant contact has the law of Hunt and Crossley, :math:`f_n = k\,\delta\,(1 + d\,\dot\delta)`,
never adhesive, at the depth that it has at the end of the step, and a tangential spring and damper
whose force Coulomb's disc bounds.

References
----------
.. [1] P. Alart, A. Curnier, "A mixed formulation for frictional contact problems prone to Newton
   like solution methods", Computer Methods in Applied Mechanics and Engineering 92(3), 1991.
.. [2] G. De Saxcé, Z.-Q. Feng, "The bipotential method", Mathematical and Computer Modelling
   28(4-8), 1998.
.. [3] K. H. Hunt, F. R. E. Crossley, "Coefficient of Restitution Interpreted as Damping in
   Vibroimpact", Journal of Applied Mechanics 42(2), 1975.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_layout import (
    BRISTLE,
    DEPTH,
    IS_COMPLIANT,
    MU,
    NORMAL_DISSIPATION,
    NORMAL_STIFFNESS,
    PENALTY,
    SHIFT,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
)
from robot_dynamics_ros.core.jit import inner

DISC = 0.0
CONE = 1.0
STICK = 2.0
"""Every rigid contact sticks, whatever force it takes: a place to start from."""


@inner
def _zero(out: Vector, slope: Vector) -> None:
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    for k in range(9):
        slope[k] = 0.0


@inner
def _disc(
    mu: float,
    normal: float,
    stiffness: float,
    y1: float,
    y2: float,
    tangent: float,
    out: Vector,
    slope: Vector,
) -> None:
    """Write impulse and slope from the normal impulse and the tangential one without a bound."""
    for k in range(9):
        slope[k] = 0.0
    out[0] = normal
    slope[0] = stiffness
    size = math.sqrt(y1 * y1 + y2 * y2)
    bound = mu * normal
    if size <= bound:
        out[1] = y1
        out[2] = y2
        slope[4] = tangent
        slope[8] = tangent
        return
    t1 = y1 / size
    t2 = y2 / size
    out[1] = bound * t1
    out[2] = bound * t2
    slope[3] = mu * stiffness * t1
    slope[6] = mu * stiffness * t2
    around = tangent * bound / size
    slope[4] = around * t2 * t2
    slope[5] = -around * t1 * t2
    slope[7] = slope[5]
    slope[8] = around * t1 * t1


@inner
def _cone(
    mu: float, rho: float, y0: float, y1: float, y2: float, out: Vector, slope: Vector
) -> None:
    """Write the projection on the cone of friction and its slope."""
    size = math.sqrt(y1 * y1 + y2 * y2)
    if mu * size <= -y0:
        _zero(out, slope)
        return
    for k in range(9):
        slope[k] = 0.0
    if size <= mu * y0:
        out[0] = y0
        out[1] = y1
        out[2] = y2
        slope[0] = rho
        slope[4] = rho
        slope[8] = rho
        return
    scale = 1.0 / (1.0 + mu * mu)
    normal = scale * (y0 + mu * size)
    t1 = y1 / size
    t2 = y2 / size
    out[0] = normal
    out[1] = mu * normal * t1
    out[2] = mu * normal * t2
    around = mu * normal / size
    slope[0] = rho * scale
    slope[1] = rho * scale * mu * t1
    slope[2] = rho * scale * mu * t2
    slope[3] = slope[1]
    slope[6] = slope[2]
    slope[4] = rho * (scale * mu * mu * t1 * t1 + around * t2 * t2)
    slope[5] = rho * (scale * mu * mu - around) * t1 * t2
    slope[7] = slope[5]
    slope[8] = rho * (scale * mu * mu * t2 * t2 + around * t1 * t1)


@part
def contact_impulse(
    form: float,
    law: Vector,
    h: float,
    held: Vector,
    u0: float,
    u1: float,
    u2: float,
    out: Vector,
    slope: Vector,
) -> None:
    """
    Write the impulse of a contact and minus its derivative by the velocity, row by row.

    Parameters
    ----------
    form : float
        `DISC` or `CONE`.
    law : ndarray, shape (LAW_WIDTH,)
        The contact's law.
    h : float
        Length of the step [s].
    held : ndarray, shape (3,)
        Impulse of the round before [N s].
    u0, u1, u2 : float
        Normal and tangential velocities [m/s].
    out : ndarray, shape (3,)
        Impulse [N s].
    slope : ndarray, shape (9,)
        Slope [N s^2/m].

    """
    mu = law[MU]
    if law[IS_COMPLIANT] != 0.0:
        depth = law[DEPTH] - h * u0
        rise = 1.0 - law[NORMAL_DISSIPATION] * u0
        if depth <= 0.0 or rise <= 0.0:
            _zero(out, slope)
            return
        k = law[NORMAL_STIFFNESS]
        stiffness = k * (h * rise + law[NORMAL_DISSIPATION] * depth)
        tangent = law[TANGENT_STIFFNESS] * h + law[TANGENT_DAMPING]
        y1 = -law[TANGENT_STIFFNESS] * law[BRISTLE] - tangent * u1
        y2 = -law[TANGENT_STIFFNESS] * law[BRISTLE + 1] - tangent * u2
        _disc(mu, k * depth * rise, stiffness, y1, y2, tangent, out, slope)
        return
    rho = law[PENALTY]
    y1 = held[1] - rho * u1
    y2 = held[2] - rho * u2
    if form == CONE:
        _cone(mu, rho, held[0] - rho * (u0 + law[SHIFT]), y1, y2, out, slope)
        return
    y0 = held[0] - rho * u0
    if form == STICK:
        _disc(math.inf, 1.0, rho, y1, y2, rho, out, slope)
        out[0] = y0
        return
    if y0 <= 0.0:
        _zero(out, slope)
        return
    _disc(mu, y0, rho, y1, y2, rho, out, slope)


@part
def cone_residual(mu: float, mobility: float, impulse: Vector, u: Vector) -> float:
    r"""
    Return how far impulse and velocity are from Coulomb's law with a rigid contact.

    It is :math:`|\lambda - P_K(\lambda - (u + \mu |u_t| n) / w)| \sqrt{w}` with the contact's
    mobility `w`, in the unit of the root of an energy; zero only if the law holds.

    """
    slip = math.sqrt(u[1] * u[1] + u[2] * u[2])
    y0 = impulse[0] - (u[0] + mu * slip) / mobility
    y1 = impulse[1] - u[1] / mobility
    y2 = impulse[2] - u[2] / mobility
    size = math.sqrt(y1 * y1 + y2 * y2)
    if mu * size <= -y0:
        y0 = 0.0
        y1 = 0.0
        y2 = 0.0
    elif size > mu * y0:
        normal = (y0 + mu * size) / (1.0 + mu * mu)
        y1 *= mu * normal / size
        y2 *= mu * normal / size
        y0 = normal
    d0 = impulse[0] - y0
    d1 = impulse[1] - y1
    d2 = impulse[2] - y2
    return math.sqrt((d0 * d0 + d1 * d1 + d2 * d2) * mobility)

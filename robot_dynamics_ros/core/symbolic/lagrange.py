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
Equations of motion by Lagrange's method, as formulas.

From the positions :math:`p_i` of the centres of mass and the angular velocities :math:`\omega_i`
of the links

.. math:: T = \tfrac12 \sum_i m_i \dot p_i^T \dot p_i + \omega_i^T I_i\,\omega_i
              = \tfrac12 \dot q^T M(q)\,\dot q, \qquad V = -\sum_i m_i\,g_0^T p_i

follow :math:`M`, the gravity efforts :math:`g = \partial V / \partial q` and, with Christoffel's
symbols,

.. math:: C_{ij} = \tfrac12 \sum_k \Bigl( \frac{\partial M_{ij}}{\partial q_k}
          + \frac{\partial M_{ik}}{\partial q_j} - \frac{\partial M_{jk}}{\partial q_i} \Bigr)
          \dot q_k .

Nothing is simplified, only differentiated, and the parameters of the robot are numbers. That is
fast enough for some six joints.

References
----------
.. [1] B. Siciliano et al., *Robotics: Modelling, Planning and Control*, 2009, sec. 7.1.1 and
   7.1.2, eq. (7.45) for Christoffel's symbols.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.symbolic.chain import exact, Formula, link_motions, require_sympy


@dataclass(frozen=True, eq=False)
class LagrangeDynamics:
    """
    The formulas of one robot; see `lagrange`.

    Attributes
    ----------
    name : str
        Name of the robot.
    joint_names : tuple of str
        Names of the joints, in the order of the symbols.
    q, v : tuple of symbols, length nv
        Joint positions ``q_1, q_2, ...`` [rad | m] and velocities ``dq_1, ...`` [rad/s | m/s].
    mass_matrix : Matrix of sympy, shape (nv, nv)
        M(q) [kg m^2 | kg m | kg].
    coriolis_matrix : Matrix of sympy, shape (nv, nv)
        C(q, v), with Christoffel's symbols.
    generalized_gravity : Matrix of sympy, shape (nv, 1)
        g(q) [N m | N].
    kinetic_energy, potential_energy : expression
        Energies [J]; the potential is zero at the height of the world's origin.

    """

    name: str
    joint_names: tuple[str, ...]
    q: tuple[Formula, ...]
    v: tuple[Formula, ...]
    mass_matrix: Formula
    coriolis_matrix: Formula
    generalized_gravity: Formula
    kinetic_energy: Formula
    potential_energy: Formula

    @property
    def nv(self) -> int:
        """Return the number of degrees of freedom."""
        return len(self.q)

    @cached_property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """
        Return the formulas as functions of numbers, by name.

        ``mass_matrix(q)``, ``coriolis_matrix(q, v)``, ``generalized_gravity(q)`` of shape (nv,),
        ``kinetic_energy(q, v)`` and ``potential_energy(q)``; vectors of shape (nv,).

        """
        sympy = require_sympy()
        made: dict[str, Callable[..., Any]] = {}
        for name, formula, needs_velocity in self.quantities():
            arguments = (*self.q, *self.v) if needs_velocity else self.q
            plain = sympy.lambdify(arguments, formula, modules='math', cse=True)
            made[name] = self._checked(plain, needs_velocity)
        return made

    def quantities(self) -> tuple[tuple[str, Formula, bool], ...]:
        """Return name, formula and whether it depends on the velocity, for each quantity."""
        return (
            ('mass_matrix', self.mass_matrix.tolist(), False),
            ('coriolis_matrix', self.coriolis_matrix.tolist(), True),
            ('generalized_gravity', list(self.generalized_gravity), False),
            ('kinetic_energy', self.kinetic_energy, True),
            ('potential_energy', self.potential_energy, False),
        )

    def _checked(self, plain: Callable[..., Any], needs_velocity: bool) -> Callable[..., Any]:
        shape = (self.nv,)

        def of_position(q: Any) -> Any:
            return _as_array(plain(*as_finite('q', q, shape).tolist()))

        def of_state(q: Any, v: Any) -> Any:
            numbers = (*as_finite('q', q, shape).tolist(), *as_finite('v', v, shape).tolist())
            return _as_array(plain(*numbers))

        return of_state if needs_velocity else of_position


def _as_array(value: Any) -> Any:
    return np.array(value, dtype=float) if isinstance(value, list) else float(value)


def lagrange(model: RobotModel) -> LagrangeDynamics:
    """
    Derive the equations of motion of a small robot.

    Parameters
    ----------
    model : RobotModel
        Tree on a fixed base with joints of one coordinate. Its gravity, payload, armatures, mimic
        and locked joints count.

    Returns
    -------
    dynamics : LagrangeDynamics
        ``M(q) a + C(q, v) v + g(q) = tau``, without friction.

    Raises
    ------
    ConfigurationError
        If sympy is not installed.
    ModelError
        If a floating or planar joint moves.

    """
    sympy = require_sympy()
    require_single_joints(model, 'the symbolic derivation')
    n = model.nv
    q = sympy.symbols(f'q_1:{n + 1}', real=True)
    v = sympy.symbols(f'dq_1:{n + 1}', real=True)
    motions = link_motions(model, q, v)
    gravity = exact(model.gravity)
    mass = sympy.zeros(n, n)
    potential = sympy.Integer(0)
    for link, m, com, inertia in _masses(model):
        motion = motions[link]
        if not motion.moves:
            continue
        center = motion.position + motion.turned(com)
        linear = center.jacobian(q)
        mass += m * linear.T * linear
        if any(inertia):
            angular = motion.angular_velocity().jacobian(v)
            mass += angular.T * inertia * angular
        potential -= m * gravity.dot(center)
    for joint in model.joints:
        factor = 1.0 if joint.mimic is None else joint.mimic.multiplier
        armature = model.options.armature.get(joint.name, 0.0)
        mass[joint.v_index, joint.v_index] += exact(factor**2 * armature)[0]
    rates = sympy.Matrix(v)
    return LagrangeDynamics(
        name=model.name,
        joint_names=model.joint_names,
        q=tuple(q),
        v=tuple(v),
        mass_matrix=mass,
        coriolis_matrix=_christoffel(mass, q, v),
        generalized_gravity=sympy.Matrix([sympy.diff(potential, x) for x in q]),
        kinetic_energy=(rates.T * mass * rates)[0] / 2,
        potential_energy=potential,
    )


def _masses(model: RobotModel) -> list[tuple[str, Formula, Vector, Formula]]:
    """Return link, mass, centre and inertia about it, in link axes, of every mass."""
    found: list[tuple[str, Formula, Vector, Formula]] = []
    parts: list[tuple[str, float, Vector, Matrix]] = [
        (link.name, link.inertial.mass, link.inertial.com, link.inertial.inertia)
        for link in model.description.links
        if link.inertial is not None
    ]
    if model.payload is not None:
        payload = model.payload
        holder = {joint.name: joint.child for joint in model.description.joints}
        links = {link.name for link in model.description.links}
        link = payload.frame if payload.frame in links else holder[payload.frame]
        parts.append((link, payload.mass, payload.com, payload.inertia))
    for name, mass, com, inertia in parts:
        found.append((name, exact(mass)[0], com, exact(inertia)))
    return found


def _christoffel(mass: Formula, q: Formula, v: Formula) -> Formula:
    sympy = require_sympy()
    n = len(q)
    slopes = [mass.diff(x) for x in q]  # slopes[k][i, j] = dM_ij / dq_k

    def entry(i: int, j: int) -> Formula:
        return (
            sum((slopes[k][i, j] + slopes[j][i, k] - slopes[i][j, k]) * v[k] for k in range(n)) / 2
        )

    return sympy.Matrix(n, n, entry)

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
What a drive adds to the effort of its joint, as columns of a regressor.

.. math:: \tau_j = \dots + b\,v + F_c\,s(v) + F_s\,s(v)\,e^{-(v/v_S)^2} + o + J\,a

with viscous friction `b`, Coulomb friction `F_c`, its excess at rest `F_s` (Stribeck), an offset
`o` and the rotor's inertia `J` seen from the joint. :math:`s(v)` is the sign of `v`, or the smooth
:math:`\tanh(v / v_s)` of `friction_model`. With two sides, `b` and `F_c` have one value for each
direction, and the offset is part of `F_c`.

A coupling is a motor that turns with two joints, as that of the last axis in many wrists:
:math:`w = r v_i + v_k`. Its inertia and friction act on both,
:math:`\tau_i = \dots + r\,\tau_w` and :math:`\tau_k = \dots + \tau_w`.

References
----------
.. [1] B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools
   and compensation methods for the control of machines with friction", Automatica 30, 1994.
.. [2] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", ASME J. Dyn. Sys. Meas. Control 136(5), 2014 (the coupled wrist of the TX40).

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError

FRICTION_FORMS = ('none', 'viscous', 'coulomb', 'two_sided', 'stribeck')


@dataclass(frozen=True)
class Coupling:
    """
    A motor that turns with two joints: its speed is ``ratio * v[first] + v[second]``.

    Attributes
    ----------
    first, second : str
        Names of the joints.
    ratio : float
        Part of the first joint's speed, not zero.

    Raises
    ------
    ConfigurationError
        If the ratio is zero or not finite, or both joints are the same.

    """

    first: str
    second: str
    ratio: float = 1.0

    def __post_init__(self) -> None:
        if self.ratio == 0.0 or not np.isfinite(self.ratio) or self.first == self.second:
            raise ConfigurationError(
                f"coupling of '{self.first}' and '{self.second}' with ratio {self.ratio:g}: "
                'expected two joints and a finite ratio that is not zero'
            )


@dataclass(frozen=True)
class ModelStructure:
    """
    Which terms the efforts are explained with, besides the inertial parameters.

    Attributes
    ----------
    friction : str
        One of `FRICTION_FORMS`, for all joints.
    offset : bool
        A constant effort at each joint; not with ``two_sided``, which holds it already.
    rotor_inertia : bool
        Inertia of the rotor at each joint.
    couplings : tuple of Coupling
        Motors that turn with two joints.

    Raises
    ------
    ConfigurationError
        If the form of friction is unknown, or two motors turn with the same joints.

    """

    friction: str = 'coulomb'
    offset: bool = True
    rotor_inertia: bool = True
    couplings: tuple[Coupling, ...] = ()

    def __post_init__(self) -> None:
        if self.friction not in FRICTION_FORMS:
            raise ConfigurationError(
                f"friction form '{self.friction}' is not one of: {', '.join(FRICTION_FORMS)}"
            )
        pairs = [frozenset((coupling.first, coupling.second)) for coupling in self.couplings]
        for pair in pairs:
            if pairs.count(pair) > 1:
                raise ConfigurationError(f'two couplings of {" and ".join(sorted(pair))}')


@dataclass(frozen=True)
class JointTerm:
    """
    One column: a function of the motion of one joint or of a coupled motor.

    Attributes
    ----------
    name : str
        ``joint/term``.
    unit : str
    kind : str
        ``viscous``, ``coulomb``, ``stribeck``, ``offset`` or ``rotor_inertia``.
    weights : tuple of (int, float)
        Degrees of freedom whose motion it follows and on which it acts, and how much.
    side : int
        1 or -1: only for speeds of that sign; 0: for both.
    velocity : float
        Width of the smooth sign [rad/s | m/s]; 0 is the sign itself.

    """

    name: str
    unit: str
    kind: str
    weights: tuple[tuple[int, float], ...]
    side: int = 0
    velocity: float = 0.0

    @property
    def is_nonnegative(self) -> bool:
        """Whether a negative value is impossible."""
        return self.kind != 'offset'

    def values(self, v: Matrix, a: Matrix) -> Vector:
        """Return the column before it is dealt out to the joints, shape (n_samples,)."""
        speed: Vector = _combined(self.weights, v)
        if self.kind == 'rotor_inertia':
            return _combined(self.weights, a)
        if self.kind == 'offset':
            return np.ones(len(v))
        values = speed
        if self.kind != 'viscous':
            values = np.sign(speed) if self.velocity == 0.0 else np.tanh(speed / self.velocity)
        if self.kind == 'stribeck':
            width = STRIBECK_WIDTHS * self.velocity if self.velocity else SHARP_STRIBECK_VELOCITY
            values = values * np.exp(-((speed / width) ** 2))
        if self.side:
            values = np.where(speed * self.side > 0.0, values, 0.0)
        return np.asarray(values)


STRIBECK_WIDTHS = 3.0
"""The static level falls to the Coulomb level over so many widths of the smooth sign."""

SHARP_STRIBECK_VELOCITY = 0.05
"""Where the sign is sharp, the static level falls over this speed [rad/s | m/s]."""


def joint_terms(
    joint_names: tuple[str, ...],
    is_linear: tuple[bool, ...],
    structure: ModelStructure,
    velocities: tuple[float, ...],
) -> tuple[JointTerm, ...]:
    """
    Return the columns of all joints, joint by joint, and those of the couplings.

    Parameters
    ----------
    joint_names : tuple of str
        One for each degree of freedom.
    is_linear : tuple of bool
        Whether it is a prismatic joint, for the units.
    structure : ModelStructure
        Which terms there are.
    velocities : tuple of float
        Width of the smooth sign for each degree of freedom; zero for the sign itself.

    Raises
    ------
    ConfigurationError
        If a coupling names a joint that does not exist.

    """
    terms: list[JointTerm] = []
    for j, (name, linear) in enumerate(zip(joint_names, is_linear)):
        terms += _terms(name, linear, structure, ((j, 1.0),), velocities[j])
    for coupling in structure.couplings:
        pair = (coupling.first, coupling.second)
        if any(name not in joint_names for name in pair):
            raise ConfigurationError(
                f"coupling of '{pair[0]}' and '{pair[1]}': expected two of "
                f'{", ".join(joint_names)}'
            )
        first, second = (joint_names.index(name) for name in pair)
        weights = ((first, coupling.ratio), (second, 1.0))
        plain = ModelStructure(structure.friction, False, structure.rotor_inertia)
        name = f'{pair[0]}+{pair[1]}'
        terms += _terms(name, is_linear[second], plain, weights, velocities[second])
    return tuple(terms)


def candidate_terms(
    joint_names: tuple[str, ...],
    is_linear: tuple[bool, ...],
    structure: ModelStructure,
    widths: tuple[float, ...],
) -> tuple[JointTerm, ...]:
    """
    Return the columns of all joints with every width of the smooth sign, for a choice among them.

    Parameters
    ----------
    joint_names, is_linear, structure
        As for `joint_terms`.
    widths : tuple of float
        Candidates; the names of terms that depend on them end in ``@width``.

    Raises
    ------
    ConfigurationError
        If a coupling names a joint that does not exist.

    """
    terms: dict[str, JointTerm] = {}
    for width in widths:
        for term in joint_terms(joint_names, is_linear, structure, len(joint_names) * (width,)):
            label = candidate_name(term.name, term.kind, width)
            terms.setdefault(label, replace(term, name=label))
    return tuple(terms.values())


def candidate_name(name: str, kind: str, width: float) -> str:
    """Return the name of a term among candidates of several widths."""
    return f'{name}@{width:g}' if kind in ('coulomb', 'stribeck') else name


def _terms(
    name: str,
    linear: bool,
    structure: ModelStructure,
    weights: tuple[tuple[int, float], ...],
    velocity: float,
) -> list[JointTerm]:
    force = 'N' if linear else 'N m'
    damping = 'N s/m' if linear else 'N m s/rad'
    terms = []
    form = structure.friction
    sides = ((1, '_positive'), (-1, '_negative')) if form == 'two_sided' else ((0, ''),)
    if form != 'none':
        for side, ending in sides:
            terms.append(JointTerm(f'{name}/viscous{ending}', damping, 'viscous', weights, side))
    if form in ('coulomb', 'two_sided', 'stribeck'):
        for side, ending in sides:
            label = f'{name}/coulomb{ending}'
            terms.append(JointTerm(label, force, 'coulomb', weights, side, velocity))
    if form == 'stribeck':
        label = f'{name}/stribeck'
        terms.append(JointTerm(label, force, 'stribeck', weights, 0, velocity))
    if structure.offset and form != 'two_sided':
        terms.append(JointTerm(f'{name}/offset', force, 'offset', weights))
    if structure.rotor_inertia:
        inertia = 'kg' if linear else 'kg m^2'
        terms.append(JointTerm(f'{name}/rotor_inertia', inertia, 'rotor_inertia', weights))
    return terms


def _combined(weights: tuple[tuple[int, float], ...], motion: Matrix) -> Vector:
    combined: Vector = sum((w * motion[:, j] for j, w in weights), np.zeros(len(motion)))
    return combined

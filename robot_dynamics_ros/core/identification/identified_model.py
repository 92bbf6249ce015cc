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
From identified parameters to the files of a robot: URDF text and friction of the nodes.

A body of the model may be several links held together. The identified body goes to the link that
the joint moves, less what the description says of the others, so that these keep theirs; where
this would leave a link that cannot exist, it takes the whole body and the others become massless.

The friction file of the nodes has no offset: :math:`F_c\,s(v) + o` is written as the levels
:math:`F_c + o` and :math:`F_c - o` of the two directions, which is the same while the joint moves.
Neither URDF nor the friction file holds the inertia of rotors.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.friction.friction_file import JointFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.friction.friction_values import DEFAULT_SMOOTHING_VELOCITY
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_columns import (
    SHARP_STRIBECK_VELOCITY,
    STRIBECK_WIDTHS,
)
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    parameters_of_pseudo_inertia,
    SIZE,
)
from robot_dynamics_ros.core.model.build import build_from_options
from robot_dynamics_ros.core.model.description import Inertial
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.spatial.inertia import pseudo_inertia, SpatialInertia
from robot_dynamics_ros.core.spatial.rotation import skew

NARROWEST_SMOOTHING = 0.005
"""Least smoothing velocity that is written: commands must not jump [rad/s | m/s]."""


LARGEST_STATIC_RATIO = 2.0
"""Static over Coulomb level that a joint may have: more is what a filter makes of sticking."""


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """
    What is written of a fit.

    Attributes
    ----------
    inertials : mapping of str to Inertial
        Mass distribution of each link that changes.
    damping, friction : mapping of str to float
        Viscous and Coulomb friction of each joint, for URDF [N m s/rad | N s/m], [N m | N].
    joint_friction : mapping of str to JointFriction
        For the friction file.
    armature : mapping of str to float
        Inertia of each rotor, seen from the joint [kg m^2 | kg].
    notes : tuple of str
        What a reader should know, one sentence each.

    """

    inertials: Mapping[str, Inertial]
    damping: Mapping[str, float]
    friction: Mapping[str, float]
    joint_friction: Mapping[str, JointFriction]
    armature: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def friction_model(self) -> FrictionModel:
        """Return the friction as the nodes compute it from the friction file."""
        return FrictionModel.from_joints(self.joint_friction)


def identified_robot(model: IdentificationModel, parameters: Vector) -> RobotModel:
    """
    Return the robot with the bodies and rotors of a physically consistent fit.

    Parameters
    ----------
    model : IdentificationModel
        What was fitted; its robot must carry no payload.
    parameters : ndarray, shape (p,)
        All parameters.

    """
    robot, found = model.robot, identified_model(model, parameters)
    links = tuple(
        replace(link, inertial=found.inertials.get(link.name, link.inertial))
        for link in robot.description.links
    )
    known = set(model.names[model.n_inertial :])
    armature = dict(robot.options.armature)
    armature.update({j: a for j, a in found.armature.items() if f'{j}/rotor_inertia' in known})
    return build_from_options(
        replace(robot.description, links=links), replace(robot.options, armature=armature)
    )


def identified_model(model: IdentificationModel, parameters: Vector) -> IdentifiedModel:
    """
    Return what is to be written of a physically consistent fit.

    Parameters
    ----------
    model : IdentificationModel
        What was fitted; its robot must carry no payload.
    parameters : ndarray, shape (p,)
        All parameters.

    """
    notes: list[str] = []
    bodies = parameters[: model.n_inertial].reshape(-1, SIZE)
    inertials: dict[str, Inertial] = {}
    for index, body in enumerate(bodies):
        inertials.update(_link_inertials(model.robot, index, body, notes))
    named = dict(zip(model.names[model.n_inertial :], parameters[model.n_inertial :].tolist()))
    frictions = {
        joint: joint_friction(joint, named, width, notes)
        for joint, width in zip(model.robot.v_names, model.velocities)
    }
    if coupled := [f'{c.first}+{c.second}' for c in model.structure.couplings]:
        notes.append(
            f'the motor that turns {", ".join(coupled)} is in report.json only: neither URDF nor '
            'the friction file knows coupled joints'
        )
    return IdentifiedModel(
        inertials=inertials,
        damping={j: 0.5 * (f.viscous + f.backward_viscous) for j, f in frictions.items()},
        friction={
            j: 0.5 * (f.coulomb_positive + f.coulomb_negative) for j, f in frictions.items()
        },
        joint_friction=frictions,
        armature={j: named.get(f'{j}/rotor_inertia', 0.0) for j in model.robot.v_names},
        notes=tuple(notes),
    )


def inertial_of_parameters(parameters: Vector) -> Inertial:
    """Return mass, centre of mass and central tensor of ten parameters."""
    mass = float(parameters[0])
    if mass <= 0.0:
        return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    com = parameters[1:4] / mass
    xx, xy, yy, xz, yz, zz = parameters[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = about_origin + mass * skew(com) @ skew(com)
    return Inertial(mass, com, 0.5 * (central + central.T))


def friction_file_text(identified: IdentifiedModel, heading: str = '') -> str:
    """
    Return the friction file.

    Parameters
    ----------
    identified : IdentifiedModel
        What was identified.
    heading : str
        Comment at the top; may have several lines.

    """
    lines = [f'# {line}'.rstrip() for line in heading.splitlines()]
    rotors = ', '.join(f'{joint} {value:.6g}' for joint, value in identified.armature.items())
    lines += [f'# Rotor inertia (armature) [kg m^2 | kg]: {rotors}', 'friction:']
    for joint, friction in identified.joint_friction.items():
        values = {
            'viscous': friction.viscous,
            'coulomb_positive': friction.coulomb_positive,
            'coulomb_negative': friction.coulomb_negative,
            'smoothing_velocity': friction.smoothing_velocity,
        }
        if friction.viscous_negative is not None:
            values['viscous_negative'] = friction.viscous_negative
        if friction.static_ratio > 1.0:
            values['static_ratio'] = friction.static_ratio
            values['stribeck_velocity'] = friction.stribeck_velocity
        body = ', '.join(f'{key}: {_yaml_number(value)}' for key, value in values.items())
        lines.append(f'  {_yaml_name(joint)}: {{{body}}}')
    return '\n'.join(lines) + '\n'


def _link_inertials(
    robot: RobotModel, index: int, body: Vector, notes: list[str]
) -> dict[str, Inertial]:
    """Return the mass distribution of the links of one body."""
    main = robot.body_names[index]
    fixed = {
        link.name: link.inertial
        for link in robot.description.links
        if link.name != main
        and link.inertial is not None
        and link.inertial.mass > 0.0
        and link.name in robot.frames
        and robot.frames[link.name].body == index
    }
    rest = body_pseudo_inertia(body)
    for name, inertial in fixed.items():
        frame = robot.frames[name]
        held = SpatialInertia.from_center_of_mass(inertial.mass, inertial.com, inertial.inertia)
        moved = held.moved(frame.rotation, frame.translation)
        rest = rest - pseudo_inertia(moved.mass, moved.first_moment, moved.rotational)
    if np.linalg.eigvalsh(rest)[0] > 0.0:
        return {main: inertial_of_parameters(parameters_of_pseudo_inertia(rest))}
    notes.append(
        f"link '{main}' takes the mass of {', '.join(fixed)}, which it carries: what the "
        'description says of them is more than what was identified of all together'
    )
    nothing = Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    return {main: inertial_of_parameters(body), **dict.fromkeys(fixed, nothing)}


def joint_friction(
    joint: str, named: Mapping[str, float], width: float, notes: list[str]
) -> JointFriction:
    """
    Return the friction of a joint as the friction file has it.

    Parameters
    ----------
    joint : str
        Its name.
    named : mapping of str to float
        Terms of drives, ``joint/term``.
    width : float
        Of the smooth sign [rad/s | m/s]; 0 is the sign itself.
    notes : list of str
        What a reader should know is added here.

    """
    viscous = named.get(f'{joint}/viscous', named.get(f'{joint}/viscous_positive', 0.0))
    backward = named.get(f'{joint}/viscous_negative')
    level = named.get(f'{joint}/coulomb', 0.0)
    offset = named.get(f'{joint}/offset', 0.0)
    # A gravity-free offset beyond the Coulomb level is no friction: it cannot be written.
    if abs(offset) > level:
        notes.append(
            f"the offset {offset:.4g} of joint '{joint}' is larger than its Coulomb level "
            f'{level:.4g}: it is cut to that in the friction file'
        )
        offset = float(np.clip(offset, -level, level))
    forward = named.get(f'{joint}/coulomb_positive', level + offset)
    reverse = named.get(f'{joint}/coulomb_negative', level - offset)
    smoothing = max(width, NARROWEST_SMOOTHING) if width else DEFAULT_SMOOTHING_VELOCITY
    excess = named.get(f'{joint}/stribeck', 0.0)
    ratio = 1.0 + max(excess, 0.0) / level if level > 0.0 else 1.0
    if ratio > LARGEST_STATIC_RATIO:
        notes.append(
            f"the static friction of joint '{joint}' came out as {ratio:.3g} times its Coulomb "
            'level: the filter does not resolve how it sticks, and no static_ratio is written'
        )
        ratio = 1.0
    return JointFriction(
        viscous=max(viscous, 0.0),
        coulomb_positive=max(forward, 0.0),
        coulomb_negative=max(reverse, 0.0),
        smoothing_velocity=smoothing,
        static_ratio=ratio,
        stribeck_velocity=STRIBECK_WIDTHS * width if width else SHARP_STRIBECK_VELOCITY,
        viscous_negative=None if backward is None else max(backward, 0.0),
    )


def _yaml_number(value: float) -> str:
    """Return a number that YAML reads as one: with a point where there is an exponent."""
    text = f'{value:.9g}'
    if 'e' in text and '.' not in text:
        text = text.replace('e', '.0e')
    return text


def _yaml_name(name: str) -> str:
    plain = name.replace('_', '').isalnum() and not name[0].isdigit()
    return (
        name if plain and name.lower() not in ('y', 'n', 'yes', 'no', 'on', 'off') else f"'{name}'"
    )

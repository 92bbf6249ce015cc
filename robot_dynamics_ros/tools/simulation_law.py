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
The control laws of `robot_dynamics simulate`.

``hold`` and ``pd`` need no model and so also work where a base floats or joints are passive; the
other laws take the torque of the model into account, which there depends on the contacts.

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.control.laws import GravityCompensationLaw, InverseDynamicsLaw
from robot_dynamics_ros.core.dynamics import crba
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.closed_loop import Law, no_torque
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware

STIFFNESS, DAMPING = 400.0, 40.0
"""Gains without ``--kp`` and ``--kd``, for each unit of inertia [1/s^2, 1/s]."""


def make_law(
    args: argparse.Namespace,
    hardware: SimulatedHardware,
    reference: tuple[Matrix, Matrix, Matrix] | None,
) -> Law:
    """
    Return the control law.

    Parameters
    ----------
    args : argparse.Namespace
        ``controller``, ``kp``, ``kd``, ``passive``.
    hardware : SimulatedHardware
        The robot, in its state at the start.
    reference : tuple of three ndarray, shape (n_samples, n)
        Wanted motion of the driven joints at the periods, for the laws that follow one.

    Raises
    ------
    ConfigurationError
        If the law is not for this robot, a gain is refused or a passive joint unknown.

    """
    model, names = hardware.model, hardware.joint_names
    n = len(names)
    for name in args.passive:
        if name not in names:
            raise ConfigurationError(
                f"--passive: no driven joint '{name}'; there are: {', '.join(names)}"
            )
    start = hardware.state.q
    if args.controller == 'none':
        return no_torque(n)
    is_simple = model.has_only_single_joints and not args.passive
    kp, kd = _gains(args, model, names, start)
    if not is_simple and args.controller not in ('hold', 'pd'):
        raise ConfigurationError(
            f'controller {args.controller} is for a fixed base and joints that are all driven; '
            'here there are: none, hold, pd'
        )
    joints = {joint.name: joint for joint in model.joints}
    held = start[[joints[name].q_index for name in names]]
    zeros = np.zeros(n)
    if args.controller == 'gravity':
        gravity = GravityCompensationLaw(model)
        return lambda row, q, v: gravity.command(q, v)
    if is_simple:
        law = InverseDynamicsLaw(
            model,
            'pd_gravity' if args.controller == 'hold' else args.controller,
            kp=kp,
            kd=kd,
            gravity_compensated_by_hardware=False,
        )
        if reference is None:
            return lambda row, q, v: law.command(q, v, (held, zeros, zeros))
        q_ref, v_ref, a_ref = reference
        return lambda row, q, v: law.command(q, v, (q_ref[row], v_ref[row], a_ref[row]))
    driven = np.array([0.0 if name in args.passive else 1.0 for name in names])
    kp, kd = driven * kp, driven * kd
    if reference is None:
        return lambda row, q, v: kp * (held - q) - kd * v
    q_ref, v_ref, _ = reference
    return lambda row, q, v: kp * (q_ref[row] - q) + kd * (v_ref[row] - v)


def _gains(
    args: argparse.Namespace, model: RobotModel, names: Sequence[str], q: Vector
) -> tuple[Vector, Vector]:
    """Return the gains: those given, or ones that suit the inertia at the start."""
    inertia = np.ones(len(names))
    if args.controller != 'computed_torque':
        inertia = np.diag(crba(model, q))[[model.joint_index(name) for name in names]]
    found = []
    for option, given, default in (
        ('--kp', args.kp, STIFFNESS), ('--kd', args.kd, DAMPING)
    ):  # fmt: skip
        values = default * inertia if given is None else np.array(given)
        if values.size not in (1, len(names)) or (values < 0.0).any():
            raise ConfigurationError(
                f'{option} {" ".join(f"{x:g}" for x in values)}: expected one number or '
                f'{len(names)}, none negative'
            )
        found.append(np.array(np.broadcast_to(values, len(names))))
    return found[0], found[1]

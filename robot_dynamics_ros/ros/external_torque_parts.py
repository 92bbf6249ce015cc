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

"""Build the monitor of external torques from parameters, and report on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.control.online_friction import OnlineFriction
from robot_dynamics_ros.core.dynamics.kinematics import ReferenceFrame
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_detector import DetectorSettings
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
from robot_dynamics_ros.core.external_torque.contact_thresholds import (
    ContactThresholds,
    robot_digest,
)
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.tree import arrange_tree
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.model_updates import online_friction
from robot_dynamics_ros.ros.node_parameters import ExternalTorqueParameters
from robot_dynamics_ros.ros.robot_source import joint_order, local_path, resolved_path
from robot_dynamics_ros.ros.torque_settings import in_model_order, stated_effort


def contact_monitor(parameters: ExternalTorqueParameters, model: RobotModel) -> ContactMonitor:
    """
    Return the monitor that the parameters describe.

    Raises
    ------
    ConfigurationError
        If parameters do not fit together or to the robot, or a file is refused.
    ModelError
        If a joint has several coordinates.
    UnknownFrameError
        If the frame of the wrench is unknown.

    """
    joint_order(parameters, model)
    effort = stated_effort(parameters.effort_semantics, parameters, model)
    friction = dry_friction_of(parameters, model)
    balance = MomentumBalance(
        model,
        friction,
        rest_speed=parameters.rest_speed,
        effort_delay=parameters.effort_delay,
        longest_gap=parameters.longest_gap,
    )
    signs = in_model_order(parameters, model, parameters.effort_signs)
    is_local = parameters.wrench_expressed_in == 'frame'
    return ContactMonitor(
        MomentumObserver(balance, _gains(parameters, model)),
        effort,
        signs=np.array(signs) if signs else None,
        thresholds=stored_thresholds(parameters, model),
        settings=DetectorSettings(
            bandwidth=parameters.detector_bandwidth,
            forgetting=parameters.detector_forgetting,
            hold_time=parameters.hold_time,
        ),
        frame=parameters.frame,
        reference_frame=ReferenceFrame.LOCAL if is_local else ReferenceFrame.WORLD,
        smallest_lever=parameters.smallest_lever,
    )


def _gains(parameters: ExternalTorqueParameters, model: RobotModel) -> list[float] | float:
    gains = parameters.observer_gain
    if len(gains) == 1:
        return gains[0]
    if len(gains) != model.nv:
        raise ConfigurationError(
            f'observer_gain has {len(gains)} entries, expected one or {model.nv}'
        )
    return in_model_order(parameters, model, gains)


def dry_friction_of(parameters: ExternalTorqueParameters, model: RobotModel) -> DryFriction | None:
    """
    Return the friction that the parameters name, with its static level, or None.

    Raises
    ------
    ConfigurationError
        If the file or a value is refused.

    """
    if parameters.friction_source == 'urdf':
        return DryFriction.from_model(model)
    if parameters.friction_source in ('file', 'online'):
        return DryFriction.from_file(resolved_path(parameters.friction_file), model.joint_names)
    return None


def observed_friction(
    parameters: ExternalTorqueParameters, model: RobotModel
) -> OnlineFriction | None:
    """
    Return the friction that follows estimates, if that is asked for.

    Raises
    ------
    ConfigurationError
        If the file is refused.

    """
    if parameters.friction_source != 'online':
        return None
    return online_friction(parameters, model)


def stored_thresholds(
    parameters: ExternalTorqueParameters, model: RobotModel
) -> ContactThresholds | None:
    """
    Return the thresholds of the file, None if there is none yet.

    Raises
    ------
    ConfigurationError
        If the file is refused.

    """
    path = thresholds_path(parameters)
    if path is None or not path.exists():
        return None
    found = ContactThresholds.from_file(path, model.v_names)
    now = learning_conditions(parameters, model)
    if parameters.payload_source != 'parameters':
        del now['payload']  # it comes over the topic
    reason = found.misfit(now)
    if reason:
        raise ConfigurationError(
            f'file {path}: the thresholds were {reason}; set it back, or learn anew with ~/learn '
            'into another thresholds_file'
        )
    return found


def learning_conditions(parameters: ExternalTorqueParameters, model: RobotModel) -> dict[str, str]:
    """
    Return what thresholds are learnt for: the robot with its payload, and how it is observed.

    Raises
    ------
    ConfigurationError
        If the friction is refused.

    """
    payload = model.payload
    carried = 'none'
    if payload is not None:
        place = ', '.join(f'{x:.3g}' for x in payload.com.tolist())
        carried = f'{payload.mass:.4g} kg at ({place}) m of {payload.frame}'
    settings = (
        'effort_semantics',
        'effort_signs',
        'effort_delay',
        'observer_gain',
        'detector_bandwidth',
        'detector_forgetting',
    )
    return {
        'robot': robot_digest(model, dry_friction_of(parameters, model)),
        'payload': carried,
        **{name: _text(getattr(parameters, name)) for name in settings},
    }


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f'[{", ".join(_text(entry) for entry in value)}]'
    return f'{value:g}' if isinstance(value, float) else str(value)


def thresholds_path(parameters: ExternalTorqueParameters) -> Path | None:
    """
    Return the file of the thresholds, which need not be there yet; None if none is named.

    Raises
    ------
    ConfigurationError
        If it is to lie in a package and is not there, or in the folder of an unknown user.

    """
    name = parameters.thresholds_file
    if not name:
        return None
    return (
        resolved_path(name)
        if name.startswith('package://')
        else local_path('thresholds_file', name)
    )


def require_writable_thresholds(parameters: ExternalTorqueParameters) -> None:
    """
    Look whether thresholds could be written, before minutes are spent on learning them.

    Raises
    ------
    ConfigurationError
        If the file exists and must not be replaced, or its folder does not exist.

    """
    path = thresholds_path(parameters)
    if path is None:
        return
    if path.exists() and not parameters.overwrite_thresholds:
        raise ConfigurationError(
            f'{path} exists already: set overwrite_thresholds to true to replace it'
        )
    if not path.parent.is_dir():
        raise ConfigurationError(f'there is no folder {path.parent} for thresholds_file')


def base_frame(model: RobotModel) -> str:
    """Return the link in which gravity and poses of the model are expressed."""
    return arrange_tree(model.description).root


def contact_report(monitor: ContactMonitor) -> Report:
    """Say whether the robot is touched, where, and how much."""
    names = monitor.observer.balance.model.v_names
    tau_ext = monitor.observer.tau_ext.tolist()
    values: dict[str, object] = {
        f'external torque {name} [N m | N]': tau for name, tau in zip(names, tau_ext)
    }
    values['contacts'] = monitor.detector.count
    values['restarts'] = monitor.observer.balance.restarts
    if monitor.learner is not None:
        values['learning [s]'] = monitor.learner.duration
        return Report(Level.WARN, 'learning thresholds: no contact is found', values)
    if not monitor.has_thresholds:
        return Report(Level.WARN, 'no thresholds: no contact is found; ~/learn makes them', values)
    if not monitor.detector.is_ready:
        return Report(Level.WARN, 'no estimate: no states, or they have just begun', values)
    if not monitor.detector.is_contact:
        return Report(Level.OK, 'no contact', values)
    found = monitor.contact_link()
    joint = monitor.detector.joint
    values['found at joint'] = names[joint]
    values['link'] = found.link or found.reason
    values['not excluded'] = found.others
    if found.line_point is not None and found.line_direction is not None:
        values['line of action, point [m]'] = found.line_point.tolist()
        values['line of action, direction'] = found.line_direction.tolist()
    else:
        values['line of action'] = found.reason
    change = monitor.detector.deviation[joint]
    text = f'contact, found at {names[joint]}: {change:.3g} N m or N of change'
    return Report(Level.WARN, f'{text}, at {found.link} or beyond' if found.link else text, values)


def wrench_report(monitor: ContactMonitor) -> Report:
    """Say what of the wrench the joints feel in the present pose."""
    solver = monitor.solver
    if solver is None:
        return Report(Level.OK, 'no frame: no wrench')
    if not monitor.detector.is_ready:
        return Report(Level.OK, 'no estimate yet', {'frame': solver.frame})
    monitor.wrench()  # nobody may listen to it
    levers = solver.levers
    hidden = int((levers < solver.smallest_lever).sum())
    values = {'levers [m]': levers.tolist(), 'frame': solver.frame}
    if hidden:
        return Report(
            Level.WARN,
            f'{6 - hidden} of 6 components of the wrench at {solver.frame} show in this pose',
            values,
        )
    return Report(Level.OK, 'all components of the wrench show', values)

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

"""Files of an identification that went on while the robot moved: those of the offline one."""

from __future__ import annotations

from dataclasses import asdict
import json
from pathlib import Path
from typing import Any

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import OutputError
from robot_dynamics_ros.core.identification.identified_model import friction_file_text
from robot_dynamics_ros.core.identification.online.model_health import ModelHealth
from robot_dynamics_ros.core.identification.online.online_identification import (
    OnlineIdentification,
)
from robot_dynamics_ros.core.identification.online.online_result import OnlineResult
from robot_dynamics_ros.core.identification.online.online_rows import MOTION_CUTOFF
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.parameter_entries import parameter_entries


def write_online_results(
    folder: str | Path,
    online: OnlineIdentification,
    result: OnlineResult,
    urdf: str,
    health: ModelHealth,
    *,
    prior_weight: float,
    overwrite: bool = False,
) -> list[str]:
    """
    Write ``identified.urdf``, ``friction.yaml`` and ``report.json``, all of them or nothing.

    Parameters
    ----------
    folder : str or Path
        Where they go.
    online : OnlineIdentification
        What has learnt.
    result : OnlineResult
        What came of it.
    urdf : str
        Text of the robot's description, no xacro.
    health : ModelHealth
        How well the running model fits.
    prior_weight : float
        Of the description in the fit, for whoever begins from here.
    overwrite : bool
        Whether files of an earlier result there are replaced.

    Returns
    -------
    names : list of str
        What was written, in the folder.

    Raises
    ------
    OutputError
        If nothing was learnt, the model may not be used, or the folder has something in it and
        `overwrite` is false, or cannot be written.
    UrdfError
        If the description cannot be rewritten.

    """
    seconds = float(result.seconds.max(initial=0.0))
    if seconds < 1.0 or not any(joint.relative for joint in health.joints):
        raise OutputError(
            f'not written: {seconds:.2g} s of motion were learnt from, and no error of the model '
            'can be stated; move the robot first'
        )
    if not result.verdict.is_fit:
        raise OutputError(f'not written: {"; ".join(result.verdict.reasons)}')
    identified = result.identified
    text = rewrite_urdf(
        urdf,
        inertials=identified.inertials,
        damping=identified.damping,
        friction=identified.friction,
    )
    moved = f'{seconds:.0f} s of motion'
    with staged_directory(folder, overwrite=overwrite) as staging:
        write_text(staging / 'identified.urdf', text)
        heading = f'Identified online from {moved}'
        write_text(staging / 'friction.yaml', friction_file_text(identified, heading))
        report = online_report(online, result, health, prior_weight)
        content = json.dumps(report, indent=2, allow_nan=False) + '\n'
        write_text(staging / 'report.json', content)
        return sorted(entry.name for entry in staging.iterdir())


def online_report(
    online: OnlineIdentification,
    result: OnlineResult,
    health: ModelHealth,
    prior_weight: float,
) -> dict[str, Any]:
    """Return the report as plain values for JSON, readable by `read_offline_result`."""
    start, settings = online.start, online.settings
    model = start.model
    names = model.robot.v_names
    return {
        'kind': 'online',
        'verdict': {
            'is_fit': result.verdict.is_fit,
            'checks': [asdict(check) for check in result.verdict.checks],
        },
        'model': model.robot.name,
        'joint_names': list(names),
        'gravity': model.robot.gravity.tolist(),
        'seconds': _by_name(names, result.seconds),
        'filter': {
            'kind': 'matched causal Butterworth',
            'cutoff': settings.cutoff,
            'motion_cutoff': settings.motion_cutoff or MOTION_CUTOFF * settings.cutoff,
        },
        'structure': {
            **asdict(model.structure),
            'smoothing_velocities': dict(zip(names, model.velocities)),
        },
        'fit': {
            'estimator': 'recursive',
            'rank': model.base.rank,
            'error_deviation': _by_name(names, start.spread),
            'correlation_time': 0.0,
            'variance_inflation': start.inflation,
            'effort_delay': {'corrected': settings.effort_delay},
        },
        'prior': {'weight': prior_weight},
        'errors': {'training': _errors(health), 'held_out': {}},
        'health': asdict(health),
        **parameter_entries(model, result.parameters, result.base, result.covariance),
        'armature': dict(result.identified.armature),
        'notes': list(result.identified.notes),
    }


def _errors(health: ModelHealth) -> dict[str, Any]:
    """Return the errors of the last motion in the form of an offline report."""
    joints = [
        {'joint': joint.joint, 'rmse': joint.rms, 'relative': joint.relative}
        for joint in health.joints
    ]
    squares = sum(joint.rms**2 for joint in health.joints)
    efforts = sum((joint.rms / joint.relative) ** 2 for joint in health.joints if joint.relative)
    return {'relative': (squares / efforts) ** 0.5 if efforts else 0.0, 'joints': joints}


def _by_name(names: tuple[str, ...], values: Vector) -> dict[str, float]:
    return dict(zip(names, values.tolist()))

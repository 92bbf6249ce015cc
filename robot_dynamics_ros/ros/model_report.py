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

"""What the diagnostics say about a robot model."""

from __future__ import annotations

from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.diagnostics import Level, Report


def model_report(model: RobotModel) -> Report:
    """Sum the model up."""
    payload = model.payload
    return Report(
        Level.OK,
        f"'{model.name}': {model.nv} joints, {model.moving_mass:.4g} kg moving",
        {
            'joints': model.joint_names,
            'moving mass [kg]': model.moving_mass,
            'gravity [m/s^2]': model.gravity.tolist(),
            'armature [kg m^2 | kg]': model.armature.tolist(),
            'payload': f'{payload.mass:g} kg at {payload.frame}' if payload else 'none',
            'warnings': sum(finding.severity == 'warning' for finding in model.findings),
        },
    )


def crosscheck_report(model: RobotModel, samples: int) -> Report:
    """Compare the model with Pinocchio; without Pinocchio the report is a warning."""
    from robot_dynamics_ros.crosscheck import crosscheck_model

    report = crosscheck_model(model, samples=samples, seed=0)
    if report.ok:
        return Report(Level.OK, report.summary)
    return Report(Level.WARN if report.skipped else Level.ERROR, report.summary)

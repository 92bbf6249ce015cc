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

"""How well the model of a running robot fits, for ``/diagnostics``."""

from __future__ import annotations

from typing import Any

from robot_dynamics_ros.core.identification.online.model_health import ModelHealth
from robot_dynamics_ros.ros.diagnostics import Level, Report


def health_report(health: ModelHealth, offline_error: float | None, warning: str) -> Report:
    """
    Return the report of a model's health.

    Parameters
    ----------
    health : ModelHealth
        What is seen now.
    offline_error : float or None
        Relative error that the identification left, if there was one.
    warning : str
        What is wrong with the model that was given; empty for nothing.

    """
    values: dict[str, Any] = {}
    if offline_error is not None:
        values['relative error offline'] = offline_error
    for joint in health.joints:
        values[f'{joint.joint} residual rms [N m | N]'] = joint.rms
        values[f'{joint.joint} over normal'] = joint.ratio
        if joint.cause:
            values[f'{joint.joint} likely cause'] = joint.cause
    level = {'ok': Level.OK, 'watch': Level.WARN, 'alarm': Level.ERROR}[health.level]
    if warning:
        return Report(max(level, Level.WARN), f'{health.sentence}; {warning}', values)
    return Report(level, health.sentence, values)

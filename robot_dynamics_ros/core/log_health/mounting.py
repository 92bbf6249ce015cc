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
Whether the efforts of a log fit another direction of gravity better than the model's.

Gravity is tried along the six axes of the base. For each, the efforts of every joint are fitted
by :math:`k\,\tau_j + f_v\,v_j + f_c\,\mathrm{sign}(v_j) + c` with one gain for motion and gravity
together: with gains of their own, gravity upside down would fit as well. The gain may be negative,
since an inverted effort is no other mounting.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.dynamics import generalized_gravity_batch, rnea_batch
from robot_dynamics_ros.core.log_health.filtered_log import FilteredLog
from robot_dynamics_ros.core.model.robot_model import RobotModel

LARGE_RESIDUAL = 0.2
"""Other directions are of interest where more than this is left with the model's own."""

CLEARLY_BETTER = 0.6
"""Another direction is told if it leaves less than this part of what the model's own leaves."""

_AXES = {
    f'{sign}{name}': tuple(float(f'{sign}1') * (i == k) for k in range(3))
    for i, name in enumerate('xyz')
    for sign in '+-'
}


@dataclass(frozen=True)
class Mounting:
    """
    Directions of gravity, compared.

    Attributes
    ----------
    residual : float
        What the model's own direction leaves, norm(e - fit) / norm(e - mean), each joint relative
        to its own size.
    residuals : dict of str to float
        The same by axis of the base, ``'+x'`` to ``'-z'``.
    better : str or None
        An axis that is clearly better, if the model's own leaves much.

    """

    residual: float
    residuals: dict[str, float]
    better: str | None


def compare_mountings(model: RobotModel, log: FilteredLog, delay: float = 0.0) -> Mounting:
    """
    Try gravity along six axes of the base.

    Parameters
    ----------
    model : RobotModel
        Its joints are the columns of the log.
    log : FilteredLog
        Prepared log.
    delay : float
        How late the efforts are [s].

    """
    effort = log.effort(log.stamps + delay)
    own = generalized_gravity_batch(model, log.q)
    motion = rnea_batch(model, log.q, log.v, log.a) - own
    size = float(np.linalg.norm(model.gravity)) or 9.81
    residual = _residual(log, effort, motion + own)
    residuals = {}
    for axis, direction in _AXES.items():
        turned = model.with_gravity([size * entry for entry in direction])
        residuals[axis] = _residual(log, effort, motion + generalized_gravity_batch(turned, log.q))
    best = min(residuals, key=lambda axis: residuals[axis])
    is_better = residual > LARGE_RESIDUAL and residuals[best] < CLEARLY_BETTER * residual
    return Mounting(residual, residuals, best if is_better else None)


def _residual(log: FilteredLog, effort: Matrix, torque: Matrix) -> float:
    left = []
    for joint in range(effort.shape[1]):
        around = effort[:, joint] - effort[:, joint].mean()
        if not np.any(around):
            continue
        columns = np.column_stack(
            [torque[:, joint], log.v[:, joint], log.dry[:, joint], np.ones(len(effort))]
        )
        coefficients, *_ = np.linalg.lstsq(columns, effort[:, joint], rcond=None)
        residual = effort[:, joint] - columns @ coefficients
        left.append(float(residual @ residual) / float(around @ around))
    return float(np.sqrt(np.mean(left))) if left else 1.0

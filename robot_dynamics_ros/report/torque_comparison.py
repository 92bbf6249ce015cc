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
How well model torques agree with measured ones.

With measured :math:`\tau` and model :math:`\hat\tau` over the samples where both are known, for
each joint: the root mean square error, that error relative to the root mean square of
:math:`\tau`, and the correlation. Over all joints:

.. math:: e = \frac{\|\tau - \hat\tau\|_F}{\|\tau\|_F}

which is the usual figure of identification papers; joints with large torques dominate it.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.report.table import Cell, format_percent, format_table


@dataclass(frozen=True)
class JointTorqueError:
    """
    Agreement of one joint.

    Attributes
    ----------
    joint : str
        Its name.
    samples : int
        Number of samples compared.
    rms : float
        Root mean square of the measured torque [N m | N].
    rmse : float
        Root mean square of measured minus model [N m | N].
    bias : float
        Mean of measured minus model [N m | N].
    largest : float
        Largest absolute difference [N m | N].
    relative : float or None
        ``rmse / rms``; None if nothing was measured.
    correlation : float or None
        Pearson's; None if one of the two is constant.

    """

    joint: str
    samples: int
    rms: float
    rmse: float
    bias: float
    largest: float
    relative: float | None
    correlation: float | None


@dataclass(frozen=True)
class TorqueComparison:
    """
    Agreement of all joints.

    Attributes
    ----------
    joints : tuple of JointTorqueError
        Joint by joint.
    global_relative : float or None
        Frobenius norm of the difference over that of the measured torque; None if nothing was
        measured.

    """

    joints: tuple[JointTorqueError, ...]
    global_relative: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def as_table(self, title: str = '') -> str:
        """Return a text table, with the global figure in the last line."""
        headers = ('joint', 'rms measured', 'rmse', 'bias', 'largest', 'relative', 'correlation')
        rows: list[list[Cell]] = [
            [
                error.joint,
                f'{error.rms:.3f}',
                f'{error.rmse:.3f}',
                f'{error.bias:+.3f}',
                f'{error.largest:.3f}',
                format_percent(error.relative),
                '-' if error.correlation is None else f'{error.correlation:+.3f}',
            ]
            for error in self.joints
        ]
        rows.append(['all joints', '', '', '', '', format_percent(self.global_relative), ''])
        return format_table(headers, rows, title=title, right=headers[1:])


def compare_torques(
    joint_names: Sequence[str], measured: Matrix, model: Matrix
) -> TorqueComparison:
    """
    Compare torques sample by sample.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the columns.
    measured, model : ndarray, shape (n, len(joint_names))
        Torques [N m | N]; a sample counts for a joint where both are finite.

    Raises
    ------
    DimensionError
        If the shapes do not agree.

    """
    measured = as_matrix('measured', measured, (-1, len(joint_names)))
    model = as_matrix('model', model, measured.shape)
    difference = measured - model
    known = np.isfinite(difference)
    joints = tuple(
        _joint_error(name, measured[rows, column], difference[rows, column])
        for column, (name, rows) in enumerate(zip(joint_names, known.T))
    )
    size = float(np.linalg.norm(measured[known]))
    return TorqueComparison(
        joints, float(np.linalg.norm(difference[known])) / size if size else None
    )


def _joint_error(name: str, measured: Vector, difference: Vector) -> JointTorqueError:
    count = len(measured)
    if not count:
        return JointTorqueError(name, 0, 0.0, 0.0, 0.0, 0.0, None, None)
    rms = float(np.sqrt(np.mean(measured**2)))
    rmse = float(np.sqrt(np.mean(difference**2)))
    model = measured - difference
    varies = min(float(np.std(measured)), float(np.std(model))) > 1e-12 * max(rms, 1e-300)
    return JointTorqueError(
        joint=name,
        samples=count,
        rms=rms,
        rmse=rmse,
        bias=float(np.mean(difference)),
        largest=float(np.abs(difference).max()),
        relative=rmse / rms if rms else None,
        correlation=float(np.corrcoef(measured, model)[0, 1]) if varies else None,
    )

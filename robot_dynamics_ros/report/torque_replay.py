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
The torque that a model needs for a recorded motion, beside the torque that was measured.

The motion is filtered and differentiated, and

.. math:: \tau = \underbrace{M(q)\,a}_{inertia} + \underbrace{C(q, v)\,v}_{coriolis}
   + \underbrace{g(q)}_{gravity}
   + \underbrace{\tau_{friction}(v)}_{friction}

is evaluated at every stamp. The measured torque passes the same filter, so that both have lost the
same frequencies; the comparison with the unfiltered one is given beside it.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.core.control.torque_terms import torque_terms
from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.joint_motion import joint_motion, JointMotion
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter
from robot_dynamics_ros.report.torque_comparison import compare_torques, TorqueComparison

BLOCK = 8192
"""Samples between two progress reports."""


@dataclass(frozen=True)
class TorqueReplay:
    """
    Model and measured torques at the stamps of a log; columns in the order of ``joint_names``.

    Attributes
    ----------
    joint_names : tuple of str
        Independent joints of the model.
    motion : JointMotion
        The filtered motion.
    inertia, coriolis, gravity, friction : ndarray, shape (n, nv)
        Terms of the model torque [N m | N]; NaN where the motion is unknown.
    torque : ndarray, shape (n, nv)
        Their sum.
    measured : ndarray, shape (n, nv), or None
        Measured torque as recorded; NaN where missing.
    measured_filtered : ndarray, shape (n, nv), or None
        The same after the filter; NaN where `measured` is.
    low_pass : ZeroPhaseFilter
        The filter.

    """

    joint_names: tuple[str, ...]
    motion: JointMotion
    inertia: Matrix
    coriolis: Matrix
    gravity: Matrix
    friction: Matrix
    torque: Matrix
    measured: Matrix | None
    measured_filtered: Matrix | None
    low_pass: ZeroPhaseFilter

    @property
    def terms(self) -> dict[str, Matrix]:
        """Return the terms by name."""
        return {
            'inertia': self.inertia,
            'coriolis': self.coriolis,
            'gravity': self.gravity,
            'friction': self.friction,
        }

    def comparison(self, since: float = 0.0) -> TorqueComparison | None:
        """Compare with the filtered measured torque from time `since` [s] on; None without one."""
        return self._compared(self.measured_filtered, since)

    def comparison_with_raw(self, since: float = 0.0) -> TorqueComparison | None:
        """Compare with the measured torque as recorded from `since` [s] on; None without one."""
        return self._compared(self.measured, since)

    def _compared(self, measured: Matrix | None, since: float) -> TorqueComparison | None:
        if measured is None:
            return None
        rows = (self.motion.stamps >= since) & self.motion.reliable
        return compare_torques(self.joint_names, measured[rows], self.torque[rows])


def replay_torques(
    model: RobotModel,
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None = None,
    effort: Matrix | None = None,
    *,
    low_pass: ZeroPhaseFilter,
    friction: FrictionModel | None = None,
    advance: Callable[[int], None] | None = None,
) -> TorqueReplay:
    """
    Compute the torque of a model along a log.

    Parameters
    ----------
    model : RobotModel
        Fixed-base robot whose joints have one coordinate each.
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        Positions in the order of ``model.joint_names`` [rad | m].
    velocity : ndarray, shape (n, nv), or None
        Measured velocities [rad/s | m/s].
    effort : ndarray, shape (n, nv), or None
        Measured torques [N m | N].
    low_pass : ZeroPhaseFilter
        Filter of all signals.
    friction : FrictionModel, optional
        Friction to add; none by default.
    advance : callable, optional
        Called with the number of samples done since the last call.

    Returns
    -------
    replay : TorqueReplay
        Torques at the stamps of the log.

    Raises
    ------
    ModelError
        If the model has a joint of several coordinates.
    DimensionError
        If an array has the wrong shape.
    NonFiniteError
        If a position is not finite.
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate.

    """
    if not model.has_only_single_joints:
        raise ModelError(
            f'{model.name} has joints of several coordinates; lock them, or use a fixed base'
        )
    position = as_matrix('position', position, (len(stamps), model.nv))
    motion = joint_motion(stamps, position, velocity, low_pass)
    known = np.flatnonzero(np.isfinite(motion.a).all(axis=1))
    inertia, coriolis, gravity = (np.full(position.shape, np.nan) for _ in range(3))
    for begin in range(0, len(known), BLOCK):
        rows = known[begin : begin + BLOCK]
        terms = torque_terms(model, motion.q[rows], motion.v[rows], motion.a[rows])
        inertia[rows], coriolis[rows], gravity[rows] = terms.inertia, terms.coriolis, terms.gravity
        if advance is not None:
            advance(len(rows))
    rubbing = np.zeros(position.shape) if friction is None else friction.torque(motion.v)
    filtered = None
    if effort is not None:
        effort = as_matrix('effort', effort, position.shape)
        filtered = low_pass.filtered(stamps, bridge_missing(stamps, effort))
        filtered[~np.isfinite(effort)] = np.nan
    return TorqueReplay(
        joint_names=model.joint_names,
        motion=motion,
        inertia=inertia,
        coriolis=coriolis,
        gravity=gravity,
        friction=rubbing,
        torque=inertia + coriolis + gravity + rubbing,
        measured=effort,
        measured_filtered=filtered,
        low_pass=low_pass,
    )

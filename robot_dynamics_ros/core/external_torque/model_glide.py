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
The passage of a momentum balance from one model to another, such as one with another payload.

A balance whose model is exchanged between two messages would see the momentum jump by
:math:`\Delta M\, v`, and all that the new model explains otherwise as a push. So the balances of
both models run side by side for a while, each of one piece, and the impulse glides,

.. math:: w = (1 - s)\, w_{old} + s\, w_{new}, \qquad s = t / T ,

from the one to the other. What the glide adds, :math:`s\,(w_{new} - w_{old})`, is known. It is
passed through the filter of the contact detector, which is linear, and its changes are told to
the slow mean there: so changes are judged all the time as by the old model alone, a push shows in
full, and the glide not at all.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_kalman import MomentumKalmanFilter
from robot_dynamics_ros.core.model.robot_model import RobotModel

SETTLING = 10.0
"""Time after the glide until the filter has settled, over its time constant."""


class ModelGlide:
    """
    Two balances that run side by side, and what lies between them.

    Parameters
    ----------
    present : MomentumBalance
        That of the old model.
    model : RobotModel
        The new one, with the same joints.
    duration : float
        Of the glide, > 0 [s].
    bandwidth : float
        Of the filter of the detector [rad/s].

    Attributes
    ----------
    present, following : MomentumBalance
        Those of the old and of the new model.

    """

    def __init__(
        self, present: MomentumBalance, model: RobotModel, duration: float, bandwidth: float
    ) -> None:
        self.present = present
        self.following = present.with_model(model)
        self._duration = float(duration)
        self._end = self._duration + SETTLING / bandwidth
        self._filter = MomentumKalmanFilter(model.nv, bandwidth)
        self._told = np.zeros(model.nv)
        self._age = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the new model alone counts, or everything begins afresh with it."""
        return self._age >= self._end or not self.present.dt > 0.0

    def step(self, time: float, q: Vector, v: Vector, tau: Vector) -> Vector:
        """
        Take in the message that `present` has taken in, and blend its impulse in place.

        Arguments as of `MomentumBalance.step`; the torque is that of the new model, which differs
        where the efforts lack the weight.

        Returns
        -------
        change : ndarray, shape (nv,)
            By how much the glide has changed the filtered external torque [N m | N].

        """
        present, following = self.present, self.following
        following.step(time, q, v, tau)
        if not (present.dt > 0.0 and following.dt > 0.0):
            return np.zeros_like(self._told)
        self._age += present.dt
        added = min(self._age / self._duration, 1.0) * (following.impulse - present.impulse)
        present.impulse += added
        self._filter.step(present.dt, added)
        change: Vector = self._filter.tau_ext - self._told
        self._told[:] = self._filter.tau_ext
        return change

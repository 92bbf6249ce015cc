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
What friction can be at a measured velocity: a value while the joint slides, a range near rest.

While a joint slides, friction is known from its law. At rest it takes any value up to the static
level that is needed to keep the joint there, and no measurement of the velocity tells which:

.. math:: -F_-(0) \le \tau_f \le F_+(0), \qquad |v| \le v_r,

so that an external torque below the static level cannot be seen at a joint that rests. Between the
speed of rest :math:`v_r` and twice that speed the range shrinks to the value of the law. The speed
of rest has to be a few times the noise of the velocity, whose sign is not known below that.

"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.jit import inner, kernel

DEFAULT_REST_SPEED = 0.02
"""Speed up to which a joint may stick [rad/s | m/s]."""

TERM_ROWS = (0, 5, 1, 2)
"""Rows of the packed law that hold `TERMS` of `friction_model`, in their order."""

REST_SPEED = 6
"""Row of the packed law that follows those of `DryFriction.packed`."""


@inner
def write_friction(law: Matrix, v: Vector, middle: Vector, half: Vector) -> None:
    """Write the middle and half of the width of the range for every joint."""
    for j in range(v.size):
        forward = law[1, j]
        backward = law[2, j]
        speed = abs(v[j])
        ratio = law[3, j]
        rest = law[REST_SPEED, j]
        viscous = (law[0, j] if v[j] >= 0.0 else law[5, j]) * v[j]
        x = speed / law[4, j]
        rise = 1.0 + (ratio - 1.0) * exp(-x * x)
        sliding = viscous + (forward * rise if v[j] >= 0.0 else -backward * rise)
        share = min(max(2.0 - speed / rest, 0.0), 1.0)  # of what is possible at rest
        middle[j] = sliding + share * (viscous + 0.5 * ratio * (forward - backward) - sliding)
        half[j] = share * 0.5 * ratio * (forward + backward)


@kernel
def friction_interval_kernel(law: Matrix, v: Vector, middle: Vector, half: Vector) -> None:
    """Write the middle and half of the width of the range for every joint."""
    write_friction(law, v, middle, half)


class FrictionInterval:
    """
    The range of friction of `n` joints.

    Parameters
    ----------
    joint_names : sequence of str
        Joints.
    friction : DryFriction or FrictionModel, optional
        Its law; of a `FrictionModel` the levels count, not the smooth transition. None for joints
        without friction. What depends on load is left out.
    rest_speed : float or array_like, shape (n,)
        Speed up to which a joint may stick, > 0 [rad/s | m/s].

    Attributes
    ----------
    law : ndarray, shape (7, n)
        For compiled kernels: the rows of `DryFriction.packed`, then `rest_speed`.

    Raises
    ------
    ConfigurationError
        If the friction is that of other joints, or a speed is not positive.

    """

    def __init__(
        self,
        joint_names: Any,
        friction: DryFriction | FrictionModel | None = None,
        rest_speed: Any = DEFAULT_REST_SPEED,
    ) -> None:
        names = tuple(joint_names)
        if friction is None:
            friction = DryFriction(names, *(np.array(x) for x in (0.0, 0.0, 0.0, 1.0, 1.0)))
        if isinstance(friction, FrictionModel):
            friction = DryFriction(
                friction.joint_names,
                friction.viscous,
                friction.coulomb_positive,
                friction.coulomb_negative,
                np.array(1.0),
                np.array(1.0),
                viscous_negative=friction.viscous_negative,
            )
        if friction.joint_names != names:
            raise ConfigurationError(
                f'the friction is that of {", ".join(friction.joint_names)}; '
                f'expected {", ".join(names)}'
            )
        speed = np.broadcast_to(np.asarray(rest_speed, dtype=np.float64), len(names))
        for name, value in zip(names, speed.tolist()):
            if not 0.0 < value < np.inf:
                raise ConfigurationError(
                    f"joint '{name}': rest_speed is {value:g}, expected > 0 and finite"
                )
        self.joint_names = names
        self.law: Matrix = np.vstack((friction.packed, speed))

    def bounds(self, v: Any) -> tuple[Vector, Vector]:
        """
        Return the lowest and the highest friction at a velocity, with its sign [N m | N].

        Parameters
        ----------
        v : array_like, shape (n,)
            Joint velocities [rad/s | m/s].

        Raises
        ------
        DimensionError
            If `v` has another shape.

        """
        v = as_vector('v', v, len(self.joint_names))
        middle, half = np.empty(len(v)), np.empty(len(v))
        friction_interval_kernel(self.law, v, middle, half)
        return middle - half, middle + half

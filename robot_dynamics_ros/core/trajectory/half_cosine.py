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
The half-cosine profile from rest to rest.

.. math:: p(t) = A/2\,(1 - \cos(\pi t/T)), \quad 0 \le t \le T

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector


def half_cosine(amplitude: float, duration: float, t: Any) -> tuple[Vector, Vector, Vector]:
    """
    Return the profile and its exact first and second derivatives with respect to time.

    Parameters
    ----------
    amplitude : float
        Way `A` [rad | m].
    duration : float
        Duration `T` [s].
    t : array_like
        Times [s]; the formula also counts outside 0 ... T.

    Returns
    -------
    p, v, a : ndarray, shape of `t`
        Position, velocity and acceleration.

    """
    rate = np.pi / duration
    phase = rate * np.asarray(t, dtype=np.float64)
    half = 0.5 * amplitude
    cosine = np.cos(phase)
    return half * (1.0 - cosine), half * rate * np.sin(phase), half * rate * rate * cosine

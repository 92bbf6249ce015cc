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
Samples for identification: a log, filtered, differentiated and decimated.

Positions, velocities, accelerations and efforts pass the same zero-phase filter at
:math:`f_m`. After it nothing is left above about :math:`2 f_m`, so of a faster log only every
k-th sample is kept, :math:`f_s \ge 8 f_m`.

References
----------
.. [1] M. Gautier, P. Vandanjon, C. Presse, "Identification of inertial and drive gain parameters
   of robots", IEEE CDC, 1994 (decimation of the filtered system).

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.signals.joint_motion import joint_motion
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

RATE_PER_CUTOFF = 8.0
"""Samples per period of the cutoff that are kept: aliasing is below 1e-4 of the signal there."""

HIGHEST_CUTOFF = 0.4
"""Of the sampling rate; the filter is not realisable nearer to one half."""


@dataclass(frozen=True, eq=False)
class JointSamples:
    """
    Motion and efforts at times with steps that are about even, gaps apart.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        [s], strictly increasing.
    q, v, a : ndarray, shape (n, nv)
        Positions, velocities and accelerations [rad | m, ... per s, ... per s^2].
    tau : ndarray, shape (n, nv)
        Efforts [N m | N].
    use : ndarray of bool, shape (n, nv)
        Which efforts may be fitted or compared.
    velocity_source : str
        ``'measured'`` or ``'differentiated position'``.

    """

    stamps: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    tau: Matrix
    use: NDArray[np.bool_]
    velocity_source: str = 'given'

    def between(self, start: float, stop: float) -> JointSamples:
        """Return the samples with ``start <= stamp < stop``."""
        return self.picked(slice(*np.searchsorted(self.stamps, [start, stop])))

    def picked(self, part: slice) -> JointSamples:
        """Return some of the samples."""
        arrays = ('stamps', 'q', 'v', 'a', 'tau', 'use')
        return replace(self, **{name: getattr(self, name)[part] for name in arrays})

    def without_standstill(self, threshold: float | Vector) -> JointSamples:
        """
        Return the samples with efforts at rest left out, where friction can be anything.

        Parameters
        ----------
        threshold : float or ndarray, shape (nv,)
            Slower joints are taken to rest [rad/s | m/s].

        """
        return replace(self, use=self.use & (np.abs(self.v) >= threshold))


def joint_samples(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix,
    cutoff: float | None,
    rate: float | None = None,
) -> JointSamples:
    """
    Filter, differentiate and decimate a log.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        Finite positions [rad | m].
    velocity : ndarray, shape (n, nv), or None
        Measured velocities; used where they agree with the positions, see `joint_motion`.
    effort : ndarray, shape (n, nv)
        Measured efforts [N m | N]; where one is missing, it is bridged and not used.
    cutoff : float or None
        Of the zero-phase filter [Hz]; None filters nothing.
    rate : float, optional
        Samples per second to keep at least [Hz]; `RATE_PER_CUTOFF` times the cutoff by default.

    Raises
    ------
    DimensionError
        If shapes do not agree.
    NonFiniteError
        If a position is not finite.
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate, or fewer than 10 samples are left.

    """
    effort = as_matrix('effort', effort, (len(stamps), position.shape[1]))
    low_pass = ZeroPhaseFilter(cutoff)
    motion = joint_motion(stamps, position, velocity, low_pass)
    tau = low_pass.filtered(stamps, bridge_missing(stamps, effort))
    use = np.isfinite(effort) & motion.reliable[:, None] & np.isfinite(tau)
    keep = np.isfinite(motion.a).all(axis=1) & np.isfinite(tau).all(axis=1)
    if np.count_nonzero(keep) < 10:
        raise ConfigurationError(
            f'{np.count_nonzero(keep)} of {len(stamps)} samples can be filtered, expected at '
            'least 10: the log is too short or full of gaps'
        )
    step = 1
    if cutoff is not None:
        wanted = rate or RATE_PER_CUTOFF * cutoff
        step = max(1, int(1.0 / (float(np.median(np.diff(stamps))) * wanted) + 1e-6))
    rows = np.flatnonzero(keep)[::step]
    return JointSamples(
        stamps[rows],
        motion.q[rows],
        motion.v[rows],
        motion.a[rows],
        tau[rows],
        use[rows],
        motion.velocity_source,
    )

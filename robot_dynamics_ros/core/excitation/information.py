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
How well a motion shows the parameters: functions of its regressor, and their derivatives.

With rows weighted by the noise of the efforts, :math:`W = \Sigma^{-1/2} Y`, the covariance of the
estimate is :math:`G^{-1}` with :math:`G = W^T W`. Two measures of it are

- the condition number of :math:`W` with columns scaled to unit length, :math:`\kappa = \sqrt{
  \lambda_{max} / \lambda_{min}}` of :math:`G_s = D^{-1} G D^{-1}`, :math:`D^2 = \mathrm{diag}\,
  G`. It says how much errors of the model are amplified [1]_;
- the geometric mean of the parameters' standard deviations, :math:`(\det G)^{-1/2p}`, which does
  not depend on units of parameters: minimising it is the D-optimal design [2]_.

Eigenvalues are no smooth functions where they meet, as the smallest ones do in an optimum. So the
optimisation takes :math:`\lambda_{max}^r \approx \sum \lambda^r`, :math:`\lambda_{min}^{-r}
\approx \sum \lambda^{-r}` with a high power `r`, an upper bound of the condition number.

References
----------
.. [1] M. Gautier, W. Khalil, "Exciting trajectories for the identification of base inertial
   parameters of robots", International Journal of Robotics Research 11(4), 1992.
.. [2] J. Swevers et al., "Optimal robot excitation and identification", IEEE Transactions on
   Robotics and Automation 13(5), 1997.

"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from robot_dynamics_ros.core.arrays import Matrix

OBJECTIVES = ('condition', 'log_det')

POWER = 8.0
"""Of the eigenvalues in the smooth condition number: at most p^(1/8) too large."""

_SMALLEST = 1e-14
"""Eigenvalues below this times the largest are rounding errors."""


def condition_number(weighted: Any) -> float:
    """
    Return the condition number of a matrix with its columns scaled to unit length.

    Parameters
    ----------
    weighted : array_like, shape (n_rows, p)
        Stacked regressor, rows divided by their noise.

    Returns
    -------
    condition : float
        Infinite if columns are dependent or zero.

    """
    matrix = np.asarray(weighted, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=0)
    if not matrix.shape[1] or not (lengths > 0.0).all():
        return np.inf
    sizes = np.linalg.svd(matrix / lengths, compute_uv=False)
    is_full = len(sizes) == matrix.shape[1] and sizes[-1] > _SMALLEST * sizes[0]
    return float(sizes[0] / sizes[-1]) if is_full else np.inf


def mean_deviation(weighted: Any) -> float:
    """Return the geometric mean of the standard deviations of the parameters."""
    matrix = np.asarray(weighted, dtype=np.float64)
    triangle = np.abs(np.diag(np.linalg.qr(matrix, mode='r')))
    with np.errstate(divide='ignore'):
        return float(np.exp(-np.mean(np.log(triangle))))


def information_measure(gram: Matrix, objective: str) -> float:
    """
    Return condition number or mean deviation from the Gram matrix, quicker than from the rows.

    Its square root is taken, so that conditions beyond 1e6 are less exact than by
    `condition_number`.

    """
    lengths = np.sqrt(np.diag(gram))
    if not (lengths > 0.0).all():
        return np.inf
    scaled = gram / np.multiply.outer(lengths, lengths)
    values = eigh(scaled, driver='evr', eigvals_only=True, check_finite=False)
    if values[0] <= _SMALLEST * values[-1]:
        return np.inf
    if objective == 'condition':
        return float(np.sqrt(values[-1] / values[0]))
    return float(np.exp(-np.mean(0.5 * np.log(values) + np.log(lengths))))


def information_loss(gram: Matrix, objective: str) -> tuple[float, Matrix]:
    """
    Return what is minimised, and its derivative.

    Parameters
    ----------
    gram : ndarray, shape (p, p)
        `G`.
    objective : str
        One of `OBJECTIVES`: logarithm of the smooth condition number, or of `mean_deviation`.

    Returns
    -------
    loss : float
    gradient : ndarray, shape (p, p)
        Derivative by `G`, symmetric.

    """
    lengths = np.sqrt(np.diag(gram))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    outer = np.multiply.outer(lengths, lengths)
    scaled = gram / outer
    values, vectors = eigh(scaled, driver='evr', check_finite=False)
    values = np.maximum(values, _SMALLEST * values[-1])
    count = len(values)
    if objective == 'log_det':
        loss = -(0.5 * np.log(values).sum() + np.log(lengths).sum()) / count
        slope = -0.5 / count / values
        return float(loss), (vectors * slope) @ vectors.T / outer
    high, low = (values / values[-1]) ** POWER, (values[0] / values) ** POWER
    loss = 0.5 * (np.log(values[-1] / values[0]) + np.log(high.sum() * low.sum()) / POWER)
    slope = 0.5 * (high / high.sum() - low / low.sum()) / values
    by_scaled = (vectors * slope) @ vectors.T
    by_scaled -= np.diag(np.einsum('ij,ji->i', by_scaled, scaled))
    return float(loss), by_scaled / outer

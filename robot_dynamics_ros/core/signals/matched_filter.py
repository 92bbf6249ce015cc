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
Filter live signals and their derivatives with one causal low-pass, on irregular stamps.

A Butterworth low-pass of order :math:`n` is split into its poles,

.. math:: F(s) = \frac{\omega_c^n}{\prod_k (s - p_k)} = \sum_k \frac{r_k}{s - p_k}, \qquad
          s^j F(s) = \sum_k \frac{r_k p_k^j}{s - p_k} \quad (j < n)

so that each pole is a state of its own, :math:`\dot x_k = p_k x_k + u`, and filtered derivatives
are other sums of the same states: nothing is differentiated, and a signal, its derivatives and
every other signal in the bank have the same delay at every frequency. A model that holds for the
signals holds for the filtered ones, too. Between two stamps the input is taken as a straight line,
for which the step is exact, whatever its length:

.. math:: x^+ = e^z x + h\,\bigl(g_1(z)\,u_0 + g_2(z)\,(u_1 - u_0)\bigr), \quad z = p h, \quad
          g_1 = \frac{e^z - 1}{z}, \quad g_2 = \frac{g_1 - 1}{z}

References
----------
.. [1] P. C. Young, "Parameter estimation for continuous-time models", Automatica 17(1), 1981
   (state variable filters).
.. [2] K. J. Astrom, B. Wittenmark, *Computer-Controlled Systems*, 3rd ed., 1997, section 2.3
   (sampling with a first-order hold).

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.jit import kernel, Quick

SETTLED = 1e-3
"""Part of a first error of the states that is left after the settling time."""

SMALL = 1e-2
"""Below it, g2 is taken from its series: the difference would lose digits."""


class MatchedFilter:
    """
    A bank of equal low-pass filters, with derivatives.

    Parameters
    ----------
    cutoff : float
        Where the gain is 3 dB down [Hz].
    size : int
        Number of signals.
    order : int
        Number of poles.
    highest : int
        Highest derivative, less than the order.

    Attributes
    ----------
    cutoff : float
        [Hz]
    delay : float
        What slow signals are late by [s].
    settling_time : float
        After a start from the wrong state, errors have decayed to a thousandth [s].

    Raises
    ------
    ConfigurationError
        If the cutoff is not positive and finite, or the derivative too high for the order.

    """

    def __init__(self, cutoff: float, size: int, order: int = 3, highest: int = 0) -> None:
        if not 0.0 < cutoff < np.inf:
            raise ConfigurationError(f'cutoff of the filter is {cutoff} Hz, expected more than 0')
        if not 0 <= highest < order:
            raise ConfigurationError(
                f'derivative {highest} of a filter of order {order}: expected one below the order'
            )
        self.cutoff = cutoff
        poles = _upper_poles(order) * (2.0 * np.pi * cutoff)
        every = np.concatenate([poles, poles[poles.imag > 0.0].conj()])
        self.delay = float(-np.sum(1.0 / every).real)
        self.settling_time = float(np.log(SETTLED) / every.real.max())
        self._poles = poles
        self._weights = _weights(poles, every, highest)
        self._states = np.zeros((len(poles), size), dtype=np.complex128)
        self._input = np.zeros(size)
        self._output = np.zeros((highest + 1, size))
        self._step = Quick(matched_filter_kernel)
        self.step(0.0, np.zeros(size))  # compiles, changes nothing

    def reset(self, values: Vector) -> None:
        """
        Go to the state in which the signals have had these values for ever.

        Raises
        ------
        DimensionError, NonFiniteError
            If there is not one finite value for each signal.

        """
        self._input[:] = as_finite('values', values, self._input.shape)
        self._states[:] = -self._input / self._poles[:, None]

    def step(self, h: float, values: Vector) -> Matrix:
        """
        Go on to the next sample.

        Parameters
        ----------
        h : float
            Time since the last sample [s], not negative.
        values : ndarray, shape (size,)
            The signals now; finite, float64 and contiguous, this is not checked.

        Returns
        -------
        filtered : ndarray, shape (highest + 1, size)
            The filtered signals and their derivatives; the same array every time.

        """
        self._step.call(
            h, values, self._poles, self._weights, self._states, self._input, self._output
        )
        return self._output


@kernel
def matched_filter_kernel(
    h: float,
    values: Vector,
    poles: NDArray[np.complex128],
    weights: NDArray[np.complex128],
    states: NDArray[np.complex128],
    before: Vector,
    output: Matrix,
) -> None:
    """Step all states by `h` and write the filtered signals and their derivatives."""
    output[:] = 0.0
    for k in range(len(poles)):
        z = poles[k] * h
        decay = np.exp(z)
        if abs(z) < SMALL:
            second = 0.5 + z * (1.0 / 6.0 + z * (1.0 / 24.0 + z / 120.0))
            first = 1.0 + z * second
        else:
            first = (decay - 1.0) / z
            second = (first - 1.0) / z
        for i in range(len(values)):
            state = decay * states[k, i] + h * (
                first * before[i] + second * (values[i] - before[i])
            )
            states[k, i] = state
            for j in range(len(output)):
                output[j, i] += (weights[j, k] * state).real
    for i in range(len(values)):
        before[i] = values[i]


def _upper_poles(order: int) -> NDArray[np.complex128]:
    """Return the Butterworth poles with imaginary part >= 0, for 1 rad/s."""
    angles = np.pi * (0.5 + (2.0 * np.arange(order) + 1.0) / (2.0 * order))
    poles = np.exp(1j * angles[: (order + 1) // 2])
    if order % 2:
        poles[-1] = -1.0
    return np.ascontiguousarray(poles)


def _weights(
    poles: NDArray[np.complex128], every: NDArray[np.complex128], highest: int
) -> NDArray[np.complex128]:
    """Return what each state counts in each derivative; that of a pair counts twice."""
    gain = np.prod(-every).real
    weights = np.empty((highest + 1, len(poles)), dtype=np.complex128)
    for k, pole in enumerate(poles):
        others = np.delete(every, np.argmin(abs(every - pole)))
        residue = gain / np.prod(pole - others) * (2.0 if pole.imag > 0.0 else 1.0)
        weights[:, k] = residue * pole ** np.arange(highest + 1)
    return weights

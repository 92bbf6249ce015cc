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

"""
Logs with what goes wrong in practice, through the whole chain from samples to parameters.

The pendulum of the cases: J = 0.51 kg m^2, m g c = 9.81 N m, viscous 0.7 N m s/rad and Coulomb
0.4 N m, on sin(2 pi 0.5 t) + 0.4 sin(2 pi 0.9 t + 1), 20 s at 100 Hz.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.signal import butter, lfilter

from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.least_squares import (
    huber_least_squares,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import regression_rows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.signals.spikes import find_spikes
from robots import body, joint, robot, Y

Array = NDArray[np.float64]
TRUTH = np.array([0.51, 9.81, 0.7, 0.4])
RATE = 100.0
CUTOFF = 5.0


def motion(rate: float = RATE, late: float = 0.0) -> tuple[Array, Array, Array]:
    """Return stamps, positions and the efforts of `late` seconds before."""
    t = np.arange(0.0, 20.0, 1.0 / rate)
    w, phase, size = 2.0 * np.pi * np.array([0.5, 0.9]), np.array([0.0, 1.0]), np.array([1.0, 0.4])

    def derivative(time: Array, order: int) -> Array:
        angle = w * time[:, None] + phase + 0.5 * np.pi * order
        summed: Array = (size * w**order * np.sin(angle)).sum(axis=1)
        return summed

    q, v, a = (derivative(t - late, order) for order in range(3))
    tau = TRUTH[0] * a + TRUTH[1] * np.sin(q) + TRUTH[2] * v + TRUTH[3] * np.sign(v)
    return t, derivative(t, 0)[:, None], tau[:, None]


def fitted(
    stamps: Array,
    position: Array,
    effort: Array,
    *,
    is_robust: bool = False,
    cutoff: float = CUTOFF,
) -> Array:
    """Return J, m g c, viscous and Coulomb friction."""
    bob = body('bob', 4.0, (0.0, 0.0, -0.25), (0.2, 0.2, 0.1))
    swing = joint('swing', 'continuous', 'base', 'bob', axis=Y)
    arm = build_model(robot('pendulum', [bob], [swing]))
    model = identification_model(arm, ModelStructure('coulomb', offset=False, rotor_inertia=False))
    samples = joint_samples(stamps, position, None, effort, 4.0 * cutoff)
    rows = list(regression_rows(model, samples.between(1.0, stamps[-1] - 1.0), cutoff))
    factors = accumulated(rows, model.columns_of_joint, model.base.rank)
    fit = huber_least_squares(rows, factors) if is_robust else weighted_least_squares(factors)
    found = dict(zip(model.base.base_names, fit.base.tolist()))
    weight = -9.81 * found['bob/hz']
    names = ('bob/Iyy', 'swing/viscous', 'swing/coulomb')
    inertia, viscous, coulomb = (found[name] for name in names)
    return np.array([inertia, weight, viscous, coulomb])


def test_filter_of_one_side_shifts_friction_and_ours_does_not() -> None:
    # Case E05: a causal filter on the positions alone takes viscous friction for Coulomb friction.
    t, q, tau = motion()
    sections = butter(4, CUTOFF, fs=RATE)
    one_sided = fitted(t, lfilter(*sections, q, axis=0), tau)
    assert one_sided[2] < 0.65 * TRUTH[2]
    assert one_sided[3] > 2.0 * TRUTH[3]
    # Both filters act on both sides alike; the rest is the derivative at 100 Hz.
    assert np.allclose(fitted(t, q, tau), TRUTH, rtol=0.002)


@pytest.mark.parametrize('late', [0.03, -0.03])
def test_efforts_of_another_time_shift_the_fit_until_they_are_moved_back(late: float) -> None:
    # Case E06: 30 ms late efforts give J = 0.480, early ones 0.529; friction shifts by half.
    t, q, tau = motion(late=late)
    found = fitted(t, q, tau)
    assert found[0] == pytest.approx({0.03: 0.480, -0.03: 0.529}[late], abs=0.006)
    assert (found[2] - TRUTH[2]) * np.sign(late) > 0.08
    assert (found[3] - TRUTH[3]) * np.sign(late) < -0.2
    shifted = np.interp(t + late, t, tau[:, 0])[:, None]
    assert np.allclose(fitted(t, q, shifted), TRUTH, rtol=0.002)


@pytest.mark.parametrize('rate', [100.0, 1000.0])
def test_quantised_encoder_does_no_harm(rate: float) -> None:
    # Case E07: 12 bits; second differences have errors of 10.9 rad/s^2 at 100 Hz, 1085 at 1 kHz.
    t, q, tau = motion(rate)
    step = 2.0 * np.pi / 4096.0
    quantised = np.round(q / step) * step
    noise = np.diff(quantised - q, 2, axis=0) * rate**2
    # Quanta have a standard deviation of step / sqrt(12), in second differences sqrt(6) of it.
    assert np.std(noise) == pytest.approx(step / np.sqrt(2.0) * rate**2, rel=0.1)
    found = fitted(t, quantised, tau)
    assert np.allclose(found[:2], TRUTH[:2], rtol=0.01)  # 0.484 with plain differences
    assert np.allclose(found[2:], TRUTH[2:], rtol=0.05)


@pytest.mark.parametrize('seed', range(4))
def test_outliers_are_found_or_damped(seed: int) -> None:
    # Case E08: 20 of 500 N m in 2000; least squares gives (0.658, 3.23, 0.116, 1.23).
    t, q, tau = motion()
    rng = np.random.default_rng(seed)
    hit = rng.choice(len(t), 20, replace=False)
    bad = tau.copy()
    bad[hit] += 500.0 * rng.choice([-1.0, 1.0], (20, 1))
    assert np.abs(fitted(t, q, bad)[0] / 0.51 - 1.0) > 0.1
    # The filter spreads an outlier over a fifth of a second, which leaves less for the loss.
    damped = fitted(t, q, bad, is_robust=True)
    assert np.allclose(damped[:2], TRUTH[:2], rtol=0.03)
    # Spikes that are bridged before the filter do not count at all.
    bridged = fitted(t, q, np.where(find_spikes(bad), np.nan, bad), is_robust=True)
    assert np.allclose(bridged[:2], TRUTH[:2], rtol=0.01)

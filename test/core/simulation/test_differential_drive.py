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

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.integrate import solve_ivp

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
)
from robot_dynamics_ros.core.simulation.differential_drive import (
    DifferentialDrive,
    DifferentialDriveState,
)

Array = NDArray[np.float64]
REST = DifferentialDriveState()
BASE = DifferentialDrive(
    mass=20.0,
    yaw_inertia=0.9,
    wheel_radius=0.1,
    track=0.4,
    wheel_inertia=0.02,
    viscous=0.05,
    friction=0.6,
)
GRIP = 0.6 * 10.0 * 9.81
HEAVY_NOSE = replace(BASE, com_offset=0.12, yaw_inertia=1.2)


def run(
    drive: DifferentialDrive, state: DifferentialDriveState, tau: Any, dt: float, steps: int
) -> list[DifferentialDriveState]:
    states = [state]
    for k in range(steps):
        torques = tau(k * dt) if callable(tau) else tau
        states.append(drive.step(states[-1], torques, dt))
    return states


# ------------------------------------------------------------------ closed forms


@pytest.mark.parametrize('dt', [1e-3, 0.05, 20.0])
def test_speed_approaches_its_steady_value_exponentially(dt: float) -> None:
    """Speed r tau / c (1 - exp(-t / T)), T = (J + m r^2 / 2) / c."""
    torque, time = 0.3, 20.0
    end = run(BASE, REST, [torque, torque], dt, round(time / dt))[-1]
    constant = (0.02 + 10.0 * 0.01) / 0.05
    steady = 0.1 * torque / 0.05
    # fourth order with a tenth of the time constant at most: 1e-7 was seen
    expected = steady * (1.0 - np.exp(-time / constant))
    assert end.forward_speed == pytest.approx(expected, rel=1e-6)
    assert end.x == pytest.approx(
        steady * (time - constant * (1.0 - np.exp(-time / constant))), rel=1e-6
    )
    assert (end.y, end.heading, end.yaw_rate) == (0.0, 0.0, 0.0)
    assert end.slipping == (False, False)
    assert np.abs(BASE.slips(end)).max() < 1e-15  # rounding


def test_opposite_torques_turn_on_the_spot() -> None:
    """Rate 2 r tau / (b c) (1 - exp(-t / T)), T = (J + 2 I r^2 / b^2) / c."""
    torque, time = 0.3, 1.5
    end = run(BASE, REST, [-torque, torque], 1e-2, 150)[-1]
    constant = (0.02 + 2.0 * 0.9 * 0.01 / 0.16) / 0.05
    expected = 2.0 * 0.1 * torque / (0.4 * 0.05) * (1.0 - np.exp(-time / constant))
    assert end.yaw_rate == pytest.approx(expected, rel=1e-7)
    assert np.hypot(end.x, end.y) < 1e-15
    assert end.forward_speed == 0.0
    assert end.wheel_rates[0] == -end.wheel_rates[1]


def test_rolling_without_losses_draws_a_circle() -> None:
    drive = replace(BASE, viscous=0.0)
    speed, rate = 0.8, 1.3
    state = drive.rolling(speed, rate, x=0.5, y=-0.2, heading=0.4)
    end = run(drive, state, [0.0, 0.0], 0.01, 300)[-1]
    angle = 0.4 + rate * 3.0
    radius = speed / rate
    assert end.heading == pytest.approx(angle, rel=1e-12)
    assert end.x == pytest.approx(0.5 + radius * (np.sin(angle) - np.sin(0.4)), abs=1e-10)
    assert end.y == pytest.approx(-0.2 - radius * (np.cos(angle) - np.cos(0.4)), abs=1e-10)
    # it takes the centripetal force to stay on it
    assert end.lateral_force == pytest.approx(20.0 * speed * rate, rel=1e-12)
    turns = (speed - 0.2 * rate) * 3.0 / 0.1, (speed + 0.2 * rate) * 3.0 / 0.1
    assert end.wheel_angles == pytest.approx(turns, rel=1e-12)


def test_spinning_wheels_pull_with_their_grip() -> None:
    drive = replace(BASE, viscous=0.0)
    torque, time = 30.0, 0.25
    end = run(drive, REST, [torque, torque], 0.05, 5)[-1]
    assert end.slipping == (True, True)
    assert end.tractions == (GRIP, GRIP)
    assert end.forward_speed == pytest.approx(0.6 * 9.81 * time, rel=1e-12)  # mu g t
    assert end.wheel_rates[0] == pytest.approx((torque - 0.1 * GRIP) / 0.02 * time, rel=1e-12)
    back = run(drive, REST, [-torque, -torque], 0.05, 5)[-1]
    assert back.forward_speed == -end.forward_speed
    assert back.tractions == (-GRIP, -GRIP)


@pytest.mark.parametrize('dt', [0.3, 0.017, 1e-3])
def test_wheels_catch_the_ground_at_the_closed_instant(dt: float) -> None:
    """Slip s falls at r^2 mu N / J + 2 mu N / m; then all rolls on at one speed."""
    drive = replace(BASE, viscous=0.0)
    spin = 40.0
    state = replace(drive.rolling(1.0), wheel_rates=(spin, spin))
    slip = 0.1 * spin - 1.0
    instant = slip / (0.01 * GRIP / 0.02 + 2.0 * GRIP / 20.0)
    speed = 1.0 + 0.6 * 9.81 * instant
    assert 0.05 < instant < 0.3
    steps = round(0.3 / dt)
    end = run(drive, state, [0.0, 0.0], 0.3 / steps, steps)[-1]
    assert end.slipping == (False, False)
    assert end.forward_speed == pytest.approx(speed, rel=1e-12)
    assert end.wheel_rates[1] == end.forward_speed / 0.1
    travelled = instant * (1.0 + speed) / 2.0 + (0.3 - instant) * speed
    assert end.x == pytest.approx(travelled, rel=1e-11)


def test_limit_between_grip_and_slip_is_the_torque_of_the_closed_form() -> None:
    """A wheel grips up to tau = r mu N + J a / r with a = 2 mu N / m."""
    drive = replace(BASE, viscous=0.0)
    limit = 0.1 * GRIP + 0.02 * (2.0 * GRIP / 20.0) / 0.1
    holds = drive.step(REST, [0.999 * limit] * 2, 0.01)
    spins = drive.step(REST, [1.001 * limit] * 2, 0.01)
    assert (holds.slipping, spins.slipping) == ((False, False), (True, True))
    assert np.abs(drive.slips(holds)).max() < 1e-16  # rounding
    assert min(drive.slips(spins)) > 0.0
    assert holds.tractions[0] == pytest.approx(0.999 * GRIP, rel=1e-12)


def test_only_the_wheel_that_is_asked_too_much_slips() -> None:
    end = run(BASE, REST, [30.0, 1.0], 0.01, 20)[-1]
    assert end.slipping == (True, False)
    slips = BASE.slips(end)
    assert slips[0] > 1.0 and abs(slips[1]) < 1e-15
    assert end.yaw_rate < 0.0  # the left wheel pushes: it turns to the right


def test_wheels_on_ice_do_not_move_the_base() -> None:
    drive = replace(BASE, friction=0.0, viscous=0.0)
    end = run(drive, REST, [1.0, -2.0], 0.01, 50)[-1]
    assert (end.forward_speed, end.yaw_rate) == (0.0, 0.0)
    assert end.wheel_rates == pytest.approx((1.0 / 0.02 * 0.5, -2.0 / 0.02 * 0.5), rel=1e-12)


# ------------------------------------------------------------------ balances


def wild(t: float) -> list[float]:
    return [18.0 * np.sin(7.0 * t) + 4.0, 16.0 * np.cos(5.0 * t)]


@pytest.mark.parametrize('drive', [BASE, HEAVY_NOSE], ids=['centred', 'nose'])
def test_energy_is_what_torques_losses_and_slip_leave(drive: DifferentialDrive) -> None:
    dt = 2e-4
    states = run(drive, REST, wild, dt, 8000)
    kinetic = np.array([drive.kinetic_energy(s) for s in states])
    rates = np.array([s.wheel_rates for s in states])
    torques = np.array([wild(k * dt) for k in range(len(states) - 1)])
    slips = np.array([drive.slips(s) for s in states])
    tractions = np.array([s.tractions for s in states])
    middle = 0.5 * (rates[1:] + rates[:-1])
    work = (torques * middle).sum(axis=1) * dt
    losses = drive.viscous * (rates[1:] ** 2 + rates[:-1] ** 2).sum(axis=1) * 0.5 * dt
    slip_power = (tractions * slips).sum(axis=1)
    assert slip_power.min() > -1e-12  # friction takes energy; rounding
    assert (np.abs(slips) > 0.1).any() and (np.abs(slips) < 1e-15).any()
    sliding = 0.5 * (slip_power[1:] + slip_power[:-1]) * dt
    balance = kinetic[0] + np.cumsum(work - losses - sliding) - kinetic[1:]
    # trapezoids of 0.2 ms: 4e-4 J of 310 J were seen
    assert np.abs(balance).max() < 1e-5 * kinetic.max()


@pytest.mark.parametrize('drive', [BASE, HEAVY_NOSE], ids=['centred', 'nose'])
def test_traction_never_exceeds_the_grip(drive: DifferentialDrive) -> None:
    states = run(drive, REST, wild, 2e-3, 800)
    tractions = np.array([s.tractions for s in states])
    assert np.abs(tractions).max() <= GRIP * (1.0 + 1e-12)
    seen = {s.slipping for s in states}
    assert len(seen) == 4  # every combination comes up


def test_size_of_the_steps_does_not_matter() -> None:
    """Torques that are held for 50 ms, in steps of 50 ms and of 1 ms."""

    def held(t: float) -> list[float]:
        return wild(0.05 * np.floor(t / 0.05 + 1e-9))

    coarse = run(HEAVY_NOSE, REST, held, 0.05, 30)[-1]
    fine = run(HEAVY_NOSE, REST, held, 1e-3, 1500)[-1]
    for name in ('x', 'y', 'heading', 'forward_speed', 'yaw_rate'):
        # events are found in both; what is left is the fourth order of 50 ms: 1e-5 was seen
        assert getattr(coarse, name) == pytest.approx(getattr(fine, name), abs=4e-5)


# ------------------------------------------------------------------ another formulation


def test_gripping_base_agrees_with_lagrange_multipliers() -> None:
    """
    The centre of mass in world coordinates, with the three rolling constraints as multipliers.

    M a = B tau - C p + K^T l and K a = -K' v, with K the constraints of x, y, heading and wheels.

    """
    drive, d = replace(HEAVY_NOSE, friction=inf), 0.12
    moment = drive.yaw_inertia - drive.mass * d**2
    masses = np.diag([drive.mass, drive.mass, moment, 0.02, 0.02])

    def constraints(h: float) -> Array:
        s, c = np.sin(h), np.cos(h)
        return np.array(
            [
                [-s, c, -d, 0.0, 0.0],  # the axle does not move sideways
                [c, s, -0.2, -0.1, 0.0],  # the left wheel rolls
                [c, s, 0.2, 0.0, -0.1],
            ]
        )

    def rate(t: float, z: Array) -> Array:
        v = z[5:]
        k = constraints(z[2])
        turned = (constraints(z[2] + 1e-6) - constraints(z[2] - 1e-6)) / 2e-6 * v[2]
        torques = np.array([0.0, 0.0, 0.0, *wild(t)]) - drive.viscous * np.array(
            [0.0, 0.0, 0.0, *v[3:]]
        )
        system = np.block([[masses, -k.T], [k, np.zeros((3, 3))]])
        a = np.linalg.solve(system, np.concatenate((torques, -turned @ v)))[:5]
        return np.concatenate((v, a))

    start = np.zeros(10)
    start[0] = d
    true = solve_ivp(rate, (0.0, 1.0), start, rtol=1e-9, atol=1e-10).y[:, -1]
    # torques at the middle of steps of 0.5 ms: second order
    end = run(drive, REST, lambda t: wild(t + 2.5e-4), 5e-4, 2000)[-1]
    com = [end.x + d * np.cos(end.heading), end.y + d * np.sin(end.heading), end.heading]
    np.testing.assert_allclose(com, true[:3], atol=1e-5)
    np.testing.assert_allclose(end.wheel_angles, true[3:5], atol=1e-4)
    assert end.yaw_rate == pytest.approx(true[7], abs=1e-5)
    assert abs(end.yaw_rate) > 0.5


def test_wheels_that_never_slip_catch_the_ground_with_an_impulse() -> None:
    drive = replace(BASE, friction=inf, viscous=0.0)
    state = replace(REST, wheel_rates=(30.0, 30.0))
    end = drive.step(state, [0.0, 0.0], 1e-6)
    # m u = 2 P, J (30 - p) = r P, u = r p
    rate = 30.0 * 0.02 / (0.02 + 0.01 * 10.0)
    assert end.wheel_rates[0] == pytest.approx(rate, rel=1e-12)
    assert end.forward_speed == pytest.approx(0.1 * rate, rel=1e-12)


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ('field', 'value', 'match'),
    [
        ('mass', 0.0, 'mass is 0.0, expected a finite number > 0'),
        ('yaw_inertia', nan, 'yaw_inertia is nan'),
        ('wheel_radius', -0.1, 'wheel_radius is -0.1'),
        ('track', inf, 'track is inf'),
        ('wheel_inertia', 0.0, 'wheel_inertia is 0.0'),
        ('com_offset', nan, 'com_offset is nan'),
        ('viscous', -1.0, 'viscous is -1.0'),
        ('friction', -0.1, 'friction is -0.1'),
        ('wheel_load', -5.0, 'wheel_load is -5.0'),
        ('com_offset', 0.3, 'yaw_inertia is 0.9 kg m.2, expected at least .* = 1.8'),
    ],
)
def test_impossible_parameters_are_refused(field: str, value: float, match: str) -> None:
    with pytest.raises(ConfigurationError, match=match):
        replace(BASE, **{field: value})


@pytest.mark.parametrize(
    ('tau', 'dt', 'error', 'match'),
    [
        ([1.0], 0.01, DimensionError, 'tau has shape'),
        ([nan, 0.0], 0.01, NonFiniteError, 'tau holds'),
        (['a', 'b'], 0.01, NotNumericError, 'tau'),
        ([0.0, 0.0], 0.0, ConfigurationError, 'dt is 0.0 s'),
        ([0.0, 0.0], inf, ConfigurationError, 'dt is inf'),
        ([1e308, 1e308], 1e3, NonFiniteError, 'the simulated state .* at 1000 s'),
    ],
)
def test_bad_steps_are_refused(tau: Any, dt: float, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        BASE.step(REST, tau, dt)

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

import numpy as np
import pytest

from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.demo.measurement import measure, Measurement, States, Torques

MOTION = scenario('pick_place')
BEGIN = 1_700_000_000_123_456_789
STEP = 1_000_000  # [ns]
LATENCY = 400_000  # [ns]


def recorded(
    offset: float = 0.0, last_torque: int = 2500, silent: bool = False
) -> tuple[States, Torques, np.ndarray]:
    """Return 0.5 s before to 0.5 s after the motion at 1 kHz; each state is answered."""
    steps = np.arange(-500, 2501)
    stamps = BEGIN + STEP * steps
    q, v, _ = MOTION.sample_many(1e-3 * steps)
    states = States(stamps, stamps + 50, stamps + 90_000, q + offset, v)
    answered = steps <= last_torque
    tau = np.full((answered.sum(), 6), 0.0 if silent else 3.0)
    sent = stamps[answered] + 50 + LATENCY
    return states, Torques(stamps[answered], sent + 30_000, tau), sent


def measured(**options: float) -> Measurement:
    return measure(MOTION, BEGIN, 1000.0, *recorded(**options))  # type: ignore[arg-type]


def test_error_is_that_of_the_motion_only() -> None:
    run = measured(offset=0.01)
    assert len(run.times) == 2001
    assert run.times[0] == 0.0
    # Stamps are exact to a nanosecond, at speeds below 2 rad/s.
    assert run.largest_error == pytest.approx(0.01, abs=1e-8)
    assert run.rms_error == pytest.approx(0.01, abs=1e-8)


def test_rates_and_latency() -> None:
    run = measured()
    assert run.rate == pytest.approx(1000.0)
    assert run.answered == 1.0
    assert run.longest_gap == pytest.approx(1e-3)
    assert run.latency_quantiles == pytest.approx((4e-4, 4e-4))
    assert run.failure == ''


def test_controller_that_stops_is_noticed() -> None:
    assert 'last 0.20 s' in measured(last_torque=1800).failure
    assert 'no torque' in measured(last_torque=-400).failure
    assert 'zero torque' in measured(silent=True).failure
    assert measured(last_torque=1800).answered == pytest.approx(0.9, abs=1e-3)


def test_hole_in_the_recording_is_noticed() -> None:
    states, torques, commands = recorded()
    kept = np.abs(states.stamps - BEGIN - 10**9) > 75 * STEP  # 151 of 2001 are missing
    states = States(*(part[kept] for part in states.__dict__.values()))
    failure = measure(MOTION, BEGIN, 1000.0, states, torques, commands).failure
    assert '8 % of the joint states were missed' in failure

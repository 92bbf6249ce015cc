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

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robot_dynamics_ros.core.drive.demand import drive_demand
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.effort_limits import EffortLimits
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.drive.motor_currents import MotorCurrents
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
    TrajectoryError,
)
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import config_path, urdf_path

JOINTS = tuple(f'joint_{i}' for i in range(1, 7))


def drives(**changes: Any) -> Drives:
    """Return two drives: those of joints 1 and 4 of the ES5, with limits."""
    values: dict[str, Any] = {
        'joint_names': ('j1', 'j4'),
        'torque_constant': [0.1418, 0.1636],
        'back_emf_constant': [0.12, 0.08],
        'resistance': [0.7, 3.5],
        'inductance': [0.0009, 0.0034],
        'ratio': 101.0,
        'rotor_inertia': [7e-5, 2e-5],
        'voltage_limit': 48.0,
        'current_limit': [10.5, 1.7],
    }
    values.update(changes)
    return Drives(**values)


@pytest.fixture(scope='module')
def es5() -> Drives:
    return read_drive_file(config_path('es5_drives.yaml'), JOINTS)


def test_es5_has_the_published_table(es5: Drives) -> None:
    assert es5.torque_constant.tolist() == [0.1418] * 3 + [0.1636] * 3
    assert es5.back_emf_constant.tolist() == [0.12] * 3 + [0.08] * 3
    assert es5.resistance.tolist() == [0.7] * 3 + [3.5] * 3
    assert es5.inductance.tolist() == [0.0009] * 3 + [0.0034] * 3
    assert es5.ratio.tolist() == [101.0, 121.0, 101.0, 101.0, 101.0, 101.0]
    assert {entry.split('/')[1] for entry in es5.assumed} == {
        'rotor_inertia',
        'voltage_limit',
        'current_limit',
    }
    # ratio^2 times 7e-5 and 2e-5, as the rest of the package uses them
    reflected = [0.7141, 1.0249, 0.7141, 0.2040, 0.2040, 0.2040]
    np.testing.assert_allclose(es5.reflected_inertia, reflected, atol=5e-5)


def test_es5_drives_reach_the_limits_of_its_description(es5: Drives) -> None:
    limits = load_urdf(urdf_path('es5.urdf.xacro')).limits
    assert (es5.stall_torque >= limits.effort).all()
    assert (es5.stall_torque < 1.02 * limits.effort).all()
    assert (es5.no_load_velocity > limits.velocity).all()


def test_current_and_voltage_of_a_known_torque() -> None:
    law = drives()
    tau, v = np.array([100.0, -20.0]), np.array([2.0, 1.0])
    current = law.current(tau, v)
    np.testing.assert_allclose(current, [100 / (101 * 0.1418), -20 / (101 * 0.1636)], rtol=1e-15)
    voltage = law.voltage(current, v, [50.0, 0.0])
    expected = [0.7 * current[0] + 101 * 0.12 * 2.0 + 0.045, 3.5 * current[1] + 101 * 0.08]
    np.testing.assert_allclose(voltage, expected, rtol=1e-14)
    np.testing.assert_allclose(law.torque(current, v), tau, rtol=1e-15)


def test_efficiency_takes_power_both_ways() -> None:
    law, ideal = drives(efficiency=0.8), drives()
    rng = np.random.default_rng(0)
    current, v = rng.normal(size=(2, 200, 2))
    torque = law.torque(current, v)
    loss = (ideal.torque(current, v) - torque) * v
    assert (loss > 0.0).all()  # from the motor's shaft to the joint
    np.testing.assert_allclose(law.current(torque, v), current, rtol=1e-12)
    driving = torque * v > 0.0
    np.testing.assert_allclose(torque[driving] / ideal.torque(current, v)[driving], 0.8)
    np.testing.assert_allclose(torque[~driving] / ideal.torque(current, v)[~driving], 1.25)


def test_torque_speed_curve() -> None:
    law = drives()
    speeds = np.linspace(-6.0, 6.0, 241)[:, np.newaxis] * np.ones(2)
    low, high = law.torque_range(speeds)
    np.testing.assert_allclose(low, -high[::-1], atol=1e-12)  # the drive is symmetric
    assert (low <= high).all()
    # Flat at the current limit, then down with slope r^2 k_T k_e / R to the no-load speed.
    assert high[120, 0] == pytest.approx(10.5 * 101 * 0.1418, rel=1e-14)
    fast = (high[:, 0] < high[120, 0]) & (high[:, 0] > -high[120, 0]) & (speeds[:, 0] > 0.0)
    slope = np.diff(high[fast, 0]) / np.diff(speeds[fast, 0])
    np.testing.assert_allclose(slope, -(101**2) * 0.1418 * 0.12 / 0.7, rtol=1e-9)
    assert law.back_emf_damping[0] == pytest.approx(-slope[0], rel=1e-9)
    at_no_load = law.torque_range(law.no_load_velocity)[1]
    np.testing.assert_allclose(at_no_load, 0.0, atol=1e-9)
    assert (law.torque_range(1.02 * law.no_load_velocity)[1] < 0.0).all()  # it brakes
    wanted = law.saturated([500.0, -500.0], [0.0, 0.0])
    np.testing.assert_allclose(wanted, [law.stall_torque[0], -law.stall_torque[1]])
    assert np.isinf(drives(voltage_limit=np.inf, current_limit=np.inf).stall_torque).all()


def test_currents_follow_the_differential_equation() -> None:
    law = drives()
    motors = MotorCurrents(law)
    voltage, v, dt = np.array([20.0, -30.0]), np.array([0.5, -1.0]), 1.3e-3
    torque = motors.apply_voltage(voltage, v, dt)

    def rate(_: float, y: Any) -> Any:
        change = (voltage - law.resistance * y[:2] - law.volts_per_velocity * v) / law.inductance
        return np.concatenate((change, y[:2]))

    end = solve_ivp(rate, (0.0, dt), np.zeros(4), rtol=1e-11, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(motors.current, end[:2], rtol=1e-9)
    np.testing.assert_allclose(torque, law.torque_per_ampere * end[2:] / dt, rtol=1e-9)
    # Two halves of the step are the whole one: the solution is exact.
    halves = MotorCurrents(law)
    mean = [halves.apply_voltage(voltage, v, 0.5 * dt) for _ in range(2)]
    np.testing.assert_allclose(halves.current, motors.current, rtol=1e-12)
    np.testing.assert_allclose(0.5 * (mean[0] + mean[1]), torque, rtol=1e-12)


@pytest.mark.parametrize('inductance', [0.0, 1e-12, 0.0009, 10.0])
def test_no_inductance_is_too_small_or_large_for_the_step(inductance: float) -> None:
    motors = MotorCurrents(drives(inductance=inductance))
    for _ in range(200):
        torque = motors.step([50.0, 10.0], [0.3, -0.2], 5e-3)
        assert np.isfinite(torque).all()
    assert (np.abs(motors.voltage) <= 48.0).all()
    if inductance < 1e-3:
        np.testing.assert_allclose(torque, [50.0, 10.0], rtol=1e-9)


def test_current_loop_is_dead_beat_within_the_supply() -> None:
    law = drives()
    motors = MotorCurrents(law)
    v = np.array([1.0, 1.0])
    motors.step([20.0, 5.0], v, 1e-3)
    np.testing.assert_allclose(law.torque(motors.current, v), [20.0, 5.0], rtol=1e-12)
    slow = MotorCurrents(law, bandwidth=500.0)
    for _ in range(10):
        slow.step([20.0, 5.0], v, 1e-4)
    reached = law.torque(slow.current, v) / [20.0, 5.0]
    np.testing.assert_allclose(reached, 1.0 - np.exp(-0.5), rtol=1e-9)
    motors.step([1e4, 1e4], np.zeros(2), 1e-4)
    assert (motors.voltage == 48.0).all()
    fast = 0.9 * law.no_load_velocity
    for _ in range(100):
        torque = motors.step([1e4, 1e4], fast, 1e-3)
    # At the end it is the steady torque-speed curve.
    np.testing.assert_allclose(torque, law.torque_range(fast)[1], rtol=1e-9)
    motors.reset()
    assert not motors.current.any()


def test_torque_line_is_what_a_voltage_gives() -> None:
    motors = MotorCurrents(drives())
    motors.apply_voltage([10.0, 10.0], [0.0, 0.0], 1e-3)
    offset, slope = motors.torque_line([12.0, -5.0], 2e-3)
    assert (slope > 0.0).all()
    v = np.array([0.7, -0.4])
    np.testing.assert_allclose(
        motors.apply_voltage([12.0, -5.0], v, 2e-3), offset - slope * v, rtol=1e-12
    )


def test_motor_on_a_voltage_runs_up_to_the_closed_form() -> None:
    # J dv/dt = k (u - k_e v) / R without inductance: an exponential to the no-load speed.
    law = drives(inductance=0.0)
    motors, inertia, dt = MotorCurrents(law), law.reflected_inertia, 1e-5
    v = np.zeros(2)
    for _ in range(1000):
        v = v + dt * motors.apply_voltage([20.0, 20.0], v, dt) / inertia
    final = 20.0 / law.volts_per_velocity
    expected = final * (1.0 - np.exp(-1e-2 * law.back_emf_damping / inertia))
    np.testing.assert_allclose(v, expected, rtol=2e-3)  # explicit Euler: dt over 2.9 ms


def test_demand_of_a_motion() -> None:
    law = drives()
    t = np.linspace(0.0, 2.0, 4001)
    v = np.stack((np.sin(np.pi * t), 0.5 * np.cos(np.pi * t)), axis=1)
    tau = np.stack((60.0 * np.cos(np.pi * t), 12.0 * np.ones_like(t)), axis=1)
    demand = drive_demand(law, t, v, tau)
    amplitude = 60.0 / law.torque_per_ampere[0]
    assert demand.peak_current[0] == pytest.approx(amplitude, rel=1e-12)
    assert demand.rms_current[0] == pytest.approx(amplitude / np.sqrt(2.0), rel=1e-6)  # trapezoid
    assert demand.copper_loss[0] == pytest.approx(0.7 * amplitude**2, rel=1e-6)
    # Over the cycle joint 1 gives no work, and the inductance none: what is taken in is heat.
    assert demand.energy[0] == pytest.approx(demand.copper_loss[0], rel=1e-6)
    assert (demand.drawn_energy >= demand.energy).all()
    inductive = -0.0009 * amplitude * np.pi * np.sin(np.pi * t)
    back_emf = 101 * 0.12 * np.sin(np.pi * t)
    expected = 0.7 * amplitude * np.cos(np.pi * t) + inductive + back_emf
    np.testing.assert_allclose(demand.voltage[1:-1, 0], expected[1:-1], atol=1e-5)  # dt^2
    assert demand.overloaded == ()
    assert demand.critical_joint == 'j4'
    assert demand.current_use[1] == pytest.approx(12.0 / (101 * 0.1636 * 1.7), rel=1e-12)
    heavy = drive_demand(law, t, v, 3.0 * tau)
    assert heavy.overloaded == ('j1', 'j4')
    free = drive_demand(drives(voltage_limit=np.inf, current_limit=np.inf), t, v, tau)
    assert (free.critical_joint, free.current_use.tolist()) == ('', [0.0, 0.0])


def test_effort_falls_towards_the_velocity_limit() -> None:
    limits = EffortLimits(('a', 'b'), np.array([100.0, np.inf]), np.array([2.0, 3.0]), 0.1)
    for v, highest in ((0.0, 100.0), (1.8, 100.0), (1.9, 50.0), (2.0, 0.0), (2.1, -50.0)):
        low, high = limits.effort_range(np.array([v, v]))
        assert high[0] == pytest.approx(highest, abs=1e-9)
        assert low[0] == -100.0
        assert (low[1], high[1]) == (-np.inf, np.inf)
        mirrored = limits.effort_range(np.array([-v, -v]))
        assert mirrored[0][0] == -high[0]
    assert limits.saturated([300.0, 300.0], [0.0, 0.0]).tolist() == [100.0, 300.0]


def test_joint_pushed_at_its_velocity_limit_does_not_swing() -> None:
    # The slope of 100 / 0.2 would be unstable for 0.1 kg m^2 at 5 ms: bounded to inertia / dt.
    limits = EffortLimits(('a',), np.array([100.0]), np.array([2.0]), 0.1)
    inertia, dt, v, speeds = 0.1, 5e-3, 0.0, []
    for _ in range(200):
        tau = limits.saturated([100.0], [v], largest_slope=inertia / dt)[0]
        v += dt * tau / inertia
        speeds.append(v)
    assert max(speeds) <= 2.0 + 1e-12
    assert speeds[-1] == pytest.approx(2.0, rel=1e-12)


def test_limits_come_from_the_description() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    limits = EffortLimits.from_model(model)
    assert limits.joint_names == model.v_names
    assert limits.effort.tolist() == [150.0] * 3 + [28.0] * 3


VALUES = (
    'torque_constant: 1, back_emf_constant: 1, resistance: 1, inductance: 0, ratio: 1, '
    'rotor_inertia: 0'
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / 'drives.yaml'
    path.write_text(text)
    return path


def test_drive_file_reads_defaults(tmp_path: Path) -> None:
    path = write(tmp_path, f'drives:\n  j: {{{VALUES}, assumed: [ratio]}}\n')
    law = read_drive_file(path, ('j',))
    assert (law.efficiency[0], law.voltage_limit[0], law.current_limit[0]) == (1.0, np.inf, np.inf)
    assert law.assumed == ('j/ratio',)


@pytest.mark.parametrize(
    ('text', 'match'),
    [
        ('', "expected 'drives'"),
        ('drives: 3\n', "expected 'drives'"),
        (f'drives:\n  j: {{{VALUES}}}\nmore: 1\n', "expected 'drives'"),
        ('drives: {}\n', 'no entry for j; the robot has: j'),
        (f'drives:\n  j: {{{VALUES}}}\n  k: {{}}\n', 'unknown joint k'),
        (f'drives:\n  j: {{{VALUES}}}\n  j: {{}}\n', 'j stands twice'),
        ('drives:\n  j: 3\n', "joint 'j': expected keys such as torque_constant"),
        ('drives:\n  j: {ratio: 1}\n', "joint 'j': torque_constant.* is missing"),
        (f'drives:\n  j: {{{VALUES}, gear: 1}}\n', 'unknown key gear; there are: torque_const'),
        (f'drives:\n  j: {{{VALUES}, efficiency: 1.1}}\n', 'efficiency is 1.1, expected <= 1'),
        (f'drives:\n  j: {{{VALUES}, efficiency: 0}}\n', 'efficiency is 0, expected > 0'),
        (f'drives:\n  j: {{{VALUES}, assumed: [color]}}\n', 'assumed names color, not given'),
        (f'drives:\n  j: {{{VALUES}, assumed: ratio}}\n', "assumed is 'ratio', expected a list"),
        (f'drives:\n  j: {{{VALUES}}}\n'.replace('ratio: 1', 'ratio: -1'), 'ratio is -1, expec'),
        (f'drives:\n  j: {{{VALUES}}}\n'.replace('inductance: 0', 'inductance: -1'), '>= 0'),
        (
            f'drives:\n  j: {{{VALUES}}}\n'.replace('rotor_inertia: 0', 'rotor_inertia: 7e-5'),
            "rotor_inertia is the text '7e-5'; YAML reads .* 7.0e-05",
        ),
        (f'drives:\n  j: {{{VALUES}}}\n'.replace('ratio: 1', 'ratio: yes'), 'ratio is True'),
        ('drives: [\n', 'cannot be read'),
    ],
)
def test_bad_drive_files_are_refused_in_one_line(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(ConfigurationError, match=match) as caught:
        read_drive_file(write(tmp_path, text), ('j',))
    assert '\n' not in str(caught.value)
    assert 'drives.yaml' in str(caught.value)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'j4': resistance is 0, expected > 0"):
        drives(resistance=[0.7, 0.0])
    with pytest.raises(ConfigurationError, match="joint 'j1': voltage_limit is nan"):
        drives(voltage_limit=np.nan)
    with pytest.raises(ConfigurationError, match=r'ratio has shape \(3,\)'):
        drives(ratio=[1.0, 1.0, 1.0])
    with pytest.raises(NotNumericError, match='ratio'):
        drives(ratio='100')
    with pytest.raises(ConfigurationError, match='bandwidth is 0'):
        MotorCurrents(drives(), bandwidth=0.0)
    motors = MotorCurrents(drives())
    with pytest.raises(ConfigurationError, match='dt is 0'):
        motors.step([0.0, 0.0], [0.0, 0.0], 0.0)
    with pytest.raises(DimensionError, match='tau has'):
        motors.step([0.0], [0.0, 0.0], 1e-3)
    with pytest.raises(NonFiniteError, match='v holds'):
        motors.apply_voltage([0.0, 0.0], [0.0, np.nan], 1e-3)
    with pytest.raises(NotNumericError, match='voltage'):
        motors.torque_line(['x', 1.0], 1e-3)
    with pytest.raises(ConfigurationError, match="joint 'a': effort is 0, expected > 0"):
        EffortLimits(('a',), 0.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match='taper is 2'):
        EffortLimits(('a',), 1.0, 1.0, 2.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match='velocity has shape'):
        EffortLimits(('a',), 1.0, [1.0, 1.0])  # type: ignore[arg-type]
    with pytest.raises(NotNumericError, match='effort'):
        EffortLimits(('a',), 'x', 1.0)  # type: ignore[arg-type]


def test_bad_trajectories_are_refused() -> None:
    t, zero = np.array([0.0, 1.0]), np.zeros((2, 2))
    with pytest.raises(TrajectoryError, match='rising times'):
        drive_demand(drives(), t[::-1].copy(), zero, zero)
    with pytest.raises(TrajectoryError, match='two samples'):
        drive_demand(drives(), t[:1], zero[:1], zero[:1])
    with pytest.raises(DimensionError, match='tau has'):
        drive_demand(drives(), t, zero, zero[:1])
    with pytest.raises(NonFiniteError, match='v holds'):
        drive_demand(drives(), t, zero + np.inf, zero)
    with pytest.raises(NotNumericError, match='tau'):
        drive_demand(drives(), t, zero, [['x', 'y'], ['x', 'y']])  # type: ignore[arg-type]

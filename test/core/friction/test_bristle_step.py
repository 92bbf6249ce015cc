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

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp, trapezoid

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dahl import DahlFriction
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_law import FRICTION_LAWS, read_friction_law
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from solved_steps import bristle_step

FC, FS, VS = 1.0, 1.5, 0.01


def sliding(viscous: Any = 0.4, coulomb: Any = FC, ratio: Any = FS / FC, **more: Any) -> Any:
    return DryFriction(('j1',), viscous, coulomb, coulomb, ratio, np.array(VS), **more)


def lugre(stiffness: float = 1e5, damping: float = 300.0, **more: Any) -> LuGreFriction:
    return LuGreFriction(sliding(**more), stiffness, damping)  # type: ignore[arg-type]


def dahl(stiffness: float = 1e5, exponent: float = 1.0) -> DahlFriction:
    return DahlFriction(sliding(0.0, ratio=1.0), stiffness, exponent)  # type: ignore[arg-type]


class Track:
    """A mass on a joint with bristles, and what happened to it."""

    def __init__(self, law: Matrix, mass: Any, v: Any = 0.0) -> None:
        n = law.shape[1]
        self.law, self.mass = law, np.array(mass, dtype=float).reshape(n, n)
        self.v, self.x = np.full(n, v, dtype=float), np.zeros(n)
        self.z, self.friction = np.zeros(n), np.zeros(n)
        self.worst = 0.0
        self.rows: list[tuple[float, ...]] = []

    def step(self, push: Any, dt: float) -> None:
        v_free = self.v + dt * np.linalg.solve(self.mass, push - self.friction)
        v_new = np.empty_like(self.v)
        residual = bristle_step(
            self.law, self.mass, self.v, v_free, dt, self.z, self.friction, v_new
        )
        self.worst = max(self.worst, residual)
        self.x += dt * v_new
        self.v = v_new

    def run(self, push: Callable[[float], Any], dt: float, duration: float) -> Matrix:
        """Return rows of time, position, velocity, deflection and friction of the first joint."""
        for k in range(round(duration / dt)):
            self.step(np.asarray(push((k + 1) * dt), dtype=float), dt)
            values = (self.x[0], self.v[0], self.z[0], self.friction[0])
            self.rows.append(((k + 1) * dt, *map(float, values)))
        return np.array(self.rows)


def pulled(law: Matrix, speed: float, dt: float = 1e-3, duration: float = 1.0) -> float:
    """Return the friction in steady sliding: a great mass goes on at its speed."""
    track = Track(law, [[1e9]], speed)
    return float(track.run(lambda t: 0.0, dt, duration)[-1, 4])


@pytest.mark.parametrize('speed', [-1.0, -0.02, -0.004, 0.004, 0.01, 0.1, 1.0])
@pytest.mark.parametrize('dt', [1e-3, 5e-3])
def test_steady_sliding_is_the_stribeck_curve(speed: float, dt: float) -> None:
    law = lugre()
    expected = law.sliding.torque(np.array([speed]))[0]
    # The great mass keeps its speed to 1e-9; the bristles relax to exp(-sigma_0 x / g) = 0.
    assert pulled(law.packed, speed, dt, 2.0) == pytest.approx(expected, rel=1e-6)
    level = dahl()
    assert pulled(level.packed, speed, dt, 2.0) == pytest.approx(np.sign(speed) * FC, rel=1e-6)


@pytest.mark.parametrize('dt', [1e-5, 1e-4, 1e-3, 5e-3])
@pytest.mark.parametrize('stiffness', [1e4, 1e5, 1e6])
@pytest.mark.parametrize('mass', [1e-4, 1e-2, 1.0])
def test_no_step_blows_up_and_each_takes_energy(dt: float, stiffness: float, mass: float) -> None:
    rng = np.random.default_rng(0)
    for damping in (0.0, 2.0 * np.sqrt(stiffness * mass), 1e3):
        for law in (lugre(stiffness, damping).packed, dahl(stiffness, 0.5).packed):
            track = Track(law, [[mass]], 0.3)
            for _ in range(300):
                stored, push = 0.5 * stiffness * track.z[0] ** 2, rng.normal(scale=2.0)
                track.step(np.array([push]), dt)
                work = dt * track.v[0] * track.friction[0]
                gain = 0.5 * stiffness * track.z[0] ** 2 - stored
                assert work - gain >= -1e-9 * (abs(work) + abs(gain)) - 1e-18  # rounding
                assert abs(track.z[0]) <= FS / stiffness * (1.0 + 1e-12)
            assert track.worst < 1e-8  # of the impulse that the bristles take


@pytest.mark.parametrize('n', [2, 6, 12])
def test_coupled_joints_fulfil_the_balance(n: int) -> None:
    rng = np.random.default_rng(n)
    worst = 0.0
    for _ in range(200):
        root = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-1.5, 0.5, n)[:, np.newaxis]
        mass = root @ root.T + 1e-4 * np.eye(n)
        names = tuple(f'j{i}' for i in range(n))
        level = rng.lognormal(0.0, 1.0, n) * (rng.uniform(size=n) > 0.2)
        viscous, ratio = rng.uniform(0, 3, n), rng.uniform(1, 2, n)
        curve = DryFriction(names, viscous, level, level, ratio, np.array(VS))
        law = LuGreFriction(curve, 10.0 ** rng.uniform(3, 6, n), 10.0 ** rng.uniform(0, 3, n))
        dt = 10.0 ** rng.uniform(-5.0, -2.3)
        z = rng.uniform(-1, 1, n) * level * curve.static_ratio / law.bristle_stiffness
        v, v_free, held = rng.normal(size=(3, n)) * 10.0 ** rng.uniform(-4, 0, (3, n))
        friction, v_new, before = held.copy(), np.empty(n), z.copy()
        residual = bristle_step(law.packed, mass, v, v_free, dt, z, friction, v_new)
        worst = max(worst, residual)
        change = mass @ (v_new - v_free)
        size = np.abs(mass) @ (np.abs(v_new) + np.abs(v_free)) + dt * np.abs(held - friction)
        assert (np.abs(change + dt * (friction - held)) <= 1e-10 * size).all()
        stored = 0.5 * law.bristle_stiffness * (z**2 - before**2)
        work = dt * v_new * friction
        assert (work - stored >= -1e-9 * (np.abs(work) + np.abs(stored))).all()
    assert worst < 3e-7  # of the impulses, where they are small beside the motion


def reference(law: LuGreFriction, mass: float, push: Callable[[float], float], t: Vector) -> Any:
    """Return position, velocity and deflection of the continuous model by an implicit method."""

    def rate(time: float, y: Any) -> Any:
        torque = law.torque(y[2:], y[1:2])[0]
        return [y[1], (push(time) - torque) / mass, law.deflection_rate(y[2:], y[1:2])[0]]

    answer = solve_ivp(
        rate, (0.0, t[-1]), [0.0, 0.0, 0.0], 'Radau', t, rtol=1e-9, atol=1e-13, max_step=2e-3
    )
    return answer.y


def test_motion_tends_to_the_continuous_model_with_first_order() -> None:
    # Passive without bound: b = 5 >= sigma_1 (F_s - F_c) / F_c.
    law = lugre(1e4, 8.0, viscous=5.0)
    assert law.is_passive

    def push(t: float) -> float:
        return float(2.5 * np.sin(2.0 * np.pi * 1.5 * t))

    times = np.linspace(0.0, 1.0, 101)[1:]
    true = reference(law, 0.3, push, times)
    errors = []
    for dt in (4e-4, 2e-4, 1e-4):
        rows = Track(law.packed, [[0.3]]).run(push, dt, 1.0)
        chosen = rows[np.rint(times / dt).astype(int) - 1]
        errors.append([np.abs(chosen[:, 1 + k] - true[k]).max() for k in range(3)])
    ranges = np.ptp(true, axis=1)
    assert (np.array(errors[-1]) < 0.03 * ranges).all()
    ratio = np.array(errors[0]) / np.array(errors[2])
    assert (ratio > 2.8).all()  # first order gives 4


def test_constant_push_below_the_level_does_not_creep() -> None:
    for law in (lugre(1e5, 600.0).packed, dahl(1e5).packed):
        for dt in (1e-3, 5e-3):
            track = Track(law, [[1.0]])
            rows = track.run(lambda t: 0.95, dt, 20.0)
            # Loaded slowly they give way by g / sigma_0 ln 20 = 3e-5; the sudden push overshoots.
            assert rows[-1, 1] < 3e-4
            later = rows[rows[:, 0] > 10.0, 1]
            assert np.ptp(later) < 1e-12
            assert abs(rows[-1, 2]) < 1e-12


def test_breakaway_lies_between_coulomb_and_static_level() -> None:
    law = lugre(1e5, 600.0).packed
    levels = []
    for rate in (0.1, 1.0, 10.0):
        track = Track(law, [[1.0]])
        rows = track.run(lambda t, rate=rate: rate * t, 1e-3, 2.0 / rate)  # type: ignore[misc]
        away = np.argmax(rows[:, 2] > VS)
        levels.append(rows[: away + 1, 4].max())
    assert all(FC < level <= FS + 0.1 for level in levels)  # and what sigma_1 and b add
    assert levels[0] > levels[1] > levels[2] or levels[0] == pytest.approx(FS, rel=0.02)
    slow = Track(law, [[1.0]]).run(lambda t: 0.1 * t, 1e-3, 20.0)
    way = slow[:, 1][np.searchsorted(slow[:, 4], [0.1, 0.5, 0.9])]
    closed_form = -FS / 1e5 * np.log(1.0 - np.array([0.1, 0.5, 0.9]) / FS)
    np.testing.assert_allclose(way, closed_form, rtol=0.02)  # one step of the ramp: 1e-4 of 0.1


def test_presliding_loops_are_closed_and_take_energy() -> None:
    amplitude = 0.7
    for law in (lugre(1e5, 600.0).packed, dahl(1e5).packed):
        rows = Track(law, [[1.0]]).run(lambda t: amplitude * np.sin(2.0 * np.pi * t), 5e-4, 6.0)
        x, force = rows[:, 1], rows[:, 4]
        loops = []
        for cycle in range(1, 6):
            part = (rows[:, 0] > cycle) & (rows[:, 0] <= cycle + 1.0)
            loops.append(float(trapezoid(force[part], x[part])))
        assert min(loops) > 0.0
        assert loops[-1] == pytest.approx(loops[-2], rel=0.01)
        assert np.ptp(x) < 5e-5  # it never slid
        # Hysteresis: at zero force the deflection of the two ways differs.
        last = rows[-len(rows) // 5 :]
        crossings = last[:-1][np.diff(np.sign(last[:, 4])) != 0.0, 1]
        assert np.ptp(crossings) > 1e-7


@pytest.mark.parametrize('exponent', [0.0, 0.5, 1.0, 1.5])
def test_dahl_follows_its_closed_form(exponent: float) -> None:
    # A great mass at a constant speed: F(x), whatever the step.
    law = dahl(1e3, exponent).packed
    for dt in (1e-3, 5e-3):
        track = Track(law, [[1e9]], 1e-2)
        rows = track.run(lambda t: 0.0, dt, 0.3)
        x = rows[:, 0] * 1e-2
        solution = solve_ivp(
            lambda _, f: 1e3 * (f < 1.0) * np.maximum(1.0 - f, 0.0) ** exponent,
            (0.0, x[-1]), [0.0], 'RK45', x, rtol=1e-9, atol=1e-11, max_step=1e-5,
        )  # fmt: skip
        # The kink of exponents below one costs the reference its order there.
        np.testing.assert_allclose(rows[:, 4], solution.y[0], atol=2e-3 if exponent < 1 else 1e-6)


def test_drift_free_under_small_vibration_is_a_matter_of_the_model() -> None:
    # LuGre's model creeps under a push with vibration (known); the step must not make it worse.
    law = lugre(1e5, 600.0, viscous=300.0)

    def push(t: float) -> float:
        return float(0.7 + 0.2 * np.sin(2.0 * np.pi * 20.0 * t))

    times = np.array([0.5, 1.0])
    true = reference(law, 1.0, push, times)
    rows = Track(law.packed, [[1.0]]).run(push, 5e-4, 1.0)
    creep = rows[-1, 1] - rows[999, 1]
    assert creep == pytest.approx(true[0, 1] - true[0, 0], rel=0.2, abs=1e-7)


def test_stick_slip_of_a_pulled_block() -> None:
    # A slow drive pulls through a spring: the block of the LuGre paper, fig. 5.
    law = lugre(1e5, np.sqrt(1e5)).packed
    track = Track(law, [[1.0]])
    pull = 0.0
    forces, speeds = [], []
    for k in range(20000):
        pull = 2.0 * (0.1 * (k + 1) * 1e-3 - track.x[0])
        track.step(np.array([pull]), 1e-3)
        forces.append(pull)
        speeds.append(float(track.v[0]))
    sticks = np.abs(speeds) < 1e-4
    assert 0.3 < sticks[5000:].mean() < 0.99
    starts = np.flatnonzero(np.diff(sticks.astype(int)) == -1)
    peaks = [forces[k] for k in starts if sticks[max(k - 1000, 0) : k].all()]  # stuck for 1 s
    assert len(peaks) >= 2
    assert all(FC < peak < 1.02 * FS for peak in peaks)


def test_load_raises_the_levels_of_bristles_too() -> None:
    law = lugre().packed
    law[1:3] += 0.1 * 20.0
    assert pulled(law, 1.0) == pytest.approx(FC + 2.0 + 0.4, rel=1e-6)


def test_joint_without_dry_friction_is_viscous() -> None:
    law = lugre(coulomb=0.0).packed
    track = Track(law, [[0.5]], 1.0)
    rows = track.run(lambda t: 0.0, 1e-3, 0.5)
    assert rows[-1, 2] == pytest.approx((1.0 + 1e-3 * 0.4 / 0.5) ** -500, rel=1e-9)
    assert track.z[0] == 0.0


def write(tmp_path: Path, entry: str) -> Path:
    path = tmp_path / 'friction.yaml'
    path.write_text('friction:\n  j1: {viscous: 1, coulomb: 2, ' + entry + '}\n')
    return path


def test_file_gives_bristles(tmp_path: Path) -> None:
    path = write(tmp_path, 'static_ratio: 1.5, bristle_stiffness: 2.0e+5, bristle_damping: 90')
    law = LuGreFriction.from_file(path, ('j1',))
    assert law.packed[:, 0].tolist() == [1.0, 2.0, 2.0, 1.5, 0.05, 1.0, 2e5, 90.0, 1.0]
    assert not law.is_passive
    with pytest.raises(ConfigurationError, match="'j1': static_ratio is 1.5, but Dahl's model"):
        DahlFriction.from_file(path, ('j1',))
    path = write(tmp_path, 'bristle_stiffness: 2.0e+5')
    assert DahlFriction.from_file(path, ('j1',)).packed[6:, 0].tolist() == [2e5, 0.0, 1.0]
    path = write(tmp_path, 'static_ratio: 1')
    for cls in (LuGreFriction, DahlFriction):
        with pytest.raises(ConfigurationError, match='bristle_stiffness is missing for j1'):
            cls.from_file(path, ('j1',))


def test_model_is_chosen_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, 'load_coefficient: 0.1, bristle_stiffness: 2.0e+5')
    kinds = (DryFriction, LuGreFriction, DahlFriction)
    for name, kind in zip(FRICTION_LAWS, kinds):
        law = read_friction_law(name, path, ('j1',))
        assert type(law) is kind
        assert law.load_coefficient.tolist() == [0.1]
    with pytest.raises(ConfigurationError, match="'brush' is not one of: dry, lugre, dahl"):
        read_friction_law('brush', path, ('j1',))


def test_impossible_bristles_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'j1': bristle_stiffness is 0, expected > 0"):
        lugre(0.0)
    with pytest.raises(ConfigurationError, match="'j1': exponent is -1, expected >= 0"):
        dahl(1e5, -1.0)
    one_way = DryFriction(('j1',), 0.1, 1.0, 0.0, 1.0, 0.05)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match='coulomb_negative 0; bristle friction needs'):
        LuGreFriction(one_way, 1e5, 1.0)  # type: ignore[arg-type]

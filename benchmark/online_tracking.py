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
How well and how cheaply friction is tracked while a simulated ES5 moves.

The arm's inertias are a few per cent off its description, its friction has a static level and
falls with speed, and the estimators see what its assumed sensors report: marks of encoders, noise,
efforts a sample late, lost messages, uneven stamps. They start from an identification of 30 s.

1. Each joint's Coulomb level rises by 30 %, one after the other: when is it found, and how large
   is the error after 15 s? Beside it: a fit of all parameters to the last 10 s, every 10 s, and
   textbook recursive least squares with exponential forgetting over the same memory.
2. All levels rise by 10 % over 10 min: largest error and mean lag.
3. The arm rests for an hour and moves on: deviations and errors of both recursive fits.
4. Slow and fast motion by turns, then slow motion only, then every level rises by 30 %: with the
   static level and the Stribeck velocity tracked, and without.
5. Cost of one state of a Panda at 1 kHz.

    python benchmark/online_tracking.py [--drift 600] [--rest 3600]

"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
import os
from pathlib import Path
import sys
import time

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from example_robots import example_urdf  # noqa: E402
from online_scenes import (  # noqa: E402
    described_es5,
    EFFORT_DELAY,
    es5_friction,
    joint_states,
    JointStates,
    now_and_then_slow,
    paced,
    perturbed_es5,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction  # noqa: E402
from robot_dynamics_ros.core.identification.identification import (  # noqa: E402
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
)
from robot_dynamics_ros.core.identification.identification_model import (  # noqa: E402
    identification_model,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure  # noqa: E402
from robot_dynamics_ros.core.identification.online.friction_tracker import MEMORY  # noqa: E402
from robot_dynamics_ros.core.identification.online.online_identification import (  # noqa: E402
    OnlineIdentification,
    OnlineReport,
)
from robot_dynamics_ros.core.identification.online.online_settings import (  # noqa: E402
    OnlineSettings,
)
from robot_dynamics_ros.core.identification.online.online_start import (  # noqa: E402
    OnlineStart,
    start_of_description,
    start_of_identification,
)
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402

Array = NDArray[np.float64]

SETTINGS = OnlineSettings(effort_delay=EFFORT_DELAY)
THINNED = 4
"""Offline fits take every fourth state: jitter leaves stamps that are 1 ns apart."""

TRUE_LEVELS = es5_friction().coulomb_positive

FIRST, APART = 30.0, 20.0
"""When the first joint changes, and the others after it [s]."""


class PlainRls:
    """Textbook recursive least squares: everything is forgotten all the time."""

    def __init__(self, start: OnlineStart, memory: float) -> None:
        self.estimate = np.array(start.base)
        self.covariance = np.array(start.covariance)
        self._deviation = start.row_deviations
        self._memory = memory

    def step(self, report: OnlineReport) -> None:
        """Take in all joints of a row, whatever they do."""
        row = report.row
        keep = 1.0 - row.step / self._memory
        self.covariance /= keep
        for j, (y, t) in enumerate(zip(row.regressor, row.tau)):
            p = self.covariance @ y
            gain = p / (self._deviation[j] ** 2 + y @ p)
            self.estimate += gain * (t - y @ self.estimate)
            self.covariance -= np.outer(gain, p)


class BatchFits:
    """A fit of all parameters to the last rows, again and again."""

    def __init__(self, start: OnlineStart, period: float = 10.0) -> None:
        self.estimate = np.array(start.base)
        self._period = period
        self._weights = 1.0 / start.spread
        self._rows: list[tuple[Array, Array]] = []
        self._next = period

    def step(self, report: OnlineReport) -> None:
        """Keep a row; fit and forget them once in a period."""
        row, use = report.row, report.use.use
        weight = self._weights[use]
        self._rows.append((row.regressor[use] * weight[:, None], row.tau[use] * weight))
        if row.stamp >= self._next:
            self._next += self._period
            columns, values = (np.concatenate(parts) for parts in zip(*self._rows))
            lengths = np.linalg.norm(columns, axis=0) + 1e-300
            fitted = np.linalg.lstsq(columns / lengths, values, rcond=1e-6)[0]
            self.estimate = fitted / lengths
            self._rows = []


def offline(states: JointStates) -> Identification:
    """Identify from the described arm, as a user would."""
    part = slice(None, None, THINNED)
    record = JointRecord(
        'log', states.stamps[part], states.position[part], None, states.effort[part]
    )
    options = IdentificationOptions(cutoff=SETTINGS.cutoff, effort_delay=EFFORT_DELAY)
    return identify(described_es5(), [record], [], options)


def scaled(factor: Callable[[float], Array | float]) -> Callable[[float], DryFriction]:
    """Return friction whose Coulomb levels are multiplied by a function of time."""
    friction = es5_friction()
    return lambda t: replace(
        friction,
        coulomb_positive=factor(t) * friction.coulomb_positive,
        coulomb_negative=factor(t) * friction.coulomb_negative,
    )


def one_after_the_other(t: float) -> Array:
    """Return the factor of each joint in the first scene."""
    return np.where(t >= FIRST + APART * np.arange(6), 1.3, 1.0)


def reports(online: OnlineIdentification, states: JointStates) -> Iterator[OnlineReport]:
    """Yield what comes of the states."""
    for stamp, q, tau in zip(states.stamps.tolist(), states.position, states.effort):
        report = online.step(stamp, q, tau)
        if report is not None:
            yield report


def levels(start: OnlineStart, base: Array) -> Array:
    """Return the Coulomb levels among base parameters, over the true ones of the start."""
    names = start.model.base.base_names
    places = [names.index(f'{joint}/coulomb') for joint in start.model.robot.v_names]
    return np.asarray(base[places] / TRUE_LEVELS)


def show_steps(start: OnlineStart) -> None:
    """Print the table of the first scene."""
    true = perturbed_es5(0.03, 1)
    states = joint_states(true, scaled(one_after_the_other), FIRST + 6 * APART, seed=3, piece=10.0)
    online = OnlineIdentification(start, SETTINGS)
    plain, batch = PlainRls(start, MEMORY), BatchFits(start)
    found, errors = np.full(6, np.nan), np.full((6, 3), np.nan)
    calm = np.zeros(3)
    false = 0
    for report in reports(online, states):
        plain.step(report)
        batch.step(report)
        t = report.row.stamp
        every = [levels(start, base)
                 for base in (online.friction.base, plain.estimate, batch.estimate)]  # fmt: skip
        if 10.0 < t < FIRST:
            calm = np.maximum(calm, [np.abs(each - 1.0).max() for each in every])
        for j in range(6):
            since = t - FIRST - APART * j
            if report.changed[j]:
                false += since < 0.0
                found[j] = since if since >= 0.0 and np.isnan(found[j]) else found[j]
            if since >= 15.0 and np.isnan(errors[j, 0]):
                errors[j] = [each[j] / 1.3 - 1.0 for each in every]
    print('\nCoulomb level of one joint up by 30 %: found after, error after 15 s')
    print(f'{"joint":>8}{"found [s]":>12}{"tracker":>10}{"plain RLS":>11}{"batch 10 s":>12}')
    for j in range(6):
        shares = ''.join(f'{100 * e:{w}.1f} %' for e, w in zip(errors[j], (8, 9, 10)))
        print(f'{j + 1:>8}{found[j]:>12.2f}{shares}')
    print(f'false alarms {false}; largest error in the 20 s before: '
          f'{100 * calm[0]:.1f} %, {100 * calm[1]:.1f} %, {100 * calm[2]:.1f} %')  # fmt: skip


def show_drift(start: OnlineStart, duration: float) -> None:
    """Print the errors of the second scene."""
    true = perturbed_es5(0.03, 1)

    def grown(t: float) -> float:
        return 1.0 + 0.1 * float(np.clip((t - 30.0) / duration, 0.0, 1.0))

    states = joint_states(true, scaled(grown), 30.0 + duration, seed=4, piece=5.0)
    online = OnlineIdentification(start, SETTINGS)
    errors, stamps = [], []
    for report in reports(online, states):
        stamps.append(report.row.stamp)
        errors.append(levels(start, online.friction.base) / grown(report.row.stamp) - 1.0)
    late = np.array(stamps) > 30.0 + 0.5 * duration
    largest = np.abs(np.array(errors)[np.array(stamps) > 30.0]).max(axis=0)
    lag = np.array(errors)[late].mean(axis=0)
    print(f'\nCoulomb levels up by 10 % over {duration:g} s: largest error and mean lag [%]')
    print('largest ', '  '.join(f'{100 * each:5.2f}' for each in largest))
    print('mean    ', '  '.join(f'{100 * each:5.2f}' for each in lag))
    print(f'taken for changes: {int(online.friction.changes.sum())}')


def show_rest(start: OnlineStart, duration: float) -> None:
    """Print what an hour at rest does to both recursive fits."""
    states = joint_states(perturbed_es5(0.03, 1), scaled(lambda t: 1.0), 40.0, seed=5)
    online, plain = OnlineIdentification(start, SETTINGS), PlainRls(start, MEMORY)
    for report in reports(online, states.between(0.0, 20.0)):
        plain.step(report)
    spread = [_widest(start, online.base.covariance), _widest(start, plain.covariance)]
    last = states.between(19.9, 20.0)
    q, tau = last.position[-1], last.effort[-100:]
    rng = np.random.default_rng(0)
    rest = 0.01 * np.arange(round(100.0 * duration))
    resting = JointStates(
        20.0 + rest, np.tile(q, (len(rest), 1)),
        tau.mean(axis=0) + 0.3 * rng.normal(size=(len(rest), 6)),
    )  # fmt: skip
    kept: dict[str, NDArray[np.float64]] = {}
    for k, report in enumerate(reports(online, resting)):
        plain.step(report)
        if k == 100:
            kept = online.state()
    same = all(np.array_equal(kept[key], value) for key, value in online.state().items())
    after = [_widest(start, online.base.covariance), _widest(start, plain.covariance)]
    moved = states.between(20.0, 40.0)
    moved = replace(moved, stamps=moved.stamps + duration)
    errors: list[list[float]] = [[], []]
    for report in reports(online, moved):
        row = report.row
        is_jump = row.stamp < moved.stamps[0] + 2.0  # from rest into the middle of a motion
        for k, base in enumerate((online.base.estimate, plain.estimate)):
            if report.use.is_frozen or is_jump:
                break
            error = (row.tau - row.regressor @ base) / start.spread
            errors[k].append(float(np.abs(error[report.use.use]).max()))
        plain.step(report)
    print(f'\n{duration:g} s at rest, then motion; tracker: the same bits all the time: {same}')
    print(f'{"":>12}{"before":>12}{"after":>12}{"rms of the largest error [deviations]":>44}')
    for k, name in enumerate(('tracker', 'plain RLS')):
        rms = float(np.sqrt(np.mean(np.square(errors[k]))))
        print(f'{name:>12}{spread[k]:>12.2g}{after[k]:>12.2g}{rms:>44.3g}')
    print('(before, after: largest deviation over the one that leaves everything open)')


def _widest(start: OnlineStart, covariance: Array) -> float:
    variances = np.abs(np.diag(covariance))
    return float(np.sqrt((variances / start.open_deviations**2).max()))


def slow_at_last(stamps: Array) -> tuple[Array, ...]:
    """Return a motion that is slow now and then, from 60 to 90 s slow only, and then as before."""
    parts = [
        now_and_then_slow(stamps, 11), paced(stamps, 13, np.full(len(stamps), 0.13)),
    ]  # fmt: skip
    share = np.clip((stamps - 59.0) / 2.0, 0.0, 1.0) - np.clip((stamps - 89.0) / 2.0, 0.0, 1.0)
    share = (share**2 * (3.0 - 2.0 * share))[:, None]
    q = (1.0 - share) * parts[0][0] + share * parts[1][0]
    v = np.gradient(q, stamps, axis=0)
    return q, v, np.gradient(v, stamps, axis=0)


def show_slow(start: OnlineStart) -> None:
    """Print the table of the fourth scene."""
    first, last = 90.0, 120.0
    states = joint_states(
        perturbed_es5(0.03, 1), scaled(lambda t: 1.3 if t >= first else 1.0), last, piece=10.0,
        seed=11, reference=slow_at_last,
    )  # fmt: skip
    print('\nslow and fast motion by turns, slow motion from 60 s, all levels up by 30 % at 90 s')
    for is_tracked in (False, True):
        online = OnlineIdentification(start, replace(SETTINGS, track_stribeck=is_tracked))
        worst, found, error = np.zeros((2, 6)), np.full(6, np.nan), np.full(6, np.nan)
        false = 0
        ratios, velocities = np.full((2, 6), np.nan)
        for report in reports(online, states):
            t, found_levels = report.row.stamp, levels(start, online.friction.base)
            if t < first:
                slow = int(t > 60.0)
                if t > 10.0:
                    worst[slow] = np.maximum(worst[slow], np.abs(found_levels - 1.0))
                false += int(report.changed.sum())
                joints = online.friction.joint_friction.values() if t > first - 0.1 else ()
                for j, joint in enumerate(joints):
                    ratios[j] = joint.static_ratio * found_levels[j]
                    velocities[j] = joint.stribeck_velocity
            new = report.changed & np.isnan(found) & (t >= first)
            found[new] = t - first
            if t >= first + 15.0 and np.isnan(error).all():
                error = found_levels / 1.3 - 1.0
        print(f'static level {"tracked" if is_tracked else "not tracked"}: false changes {false}')
        shown = {
            'largest error of the level, 10 to 60 s [%]': 100.0 * worst[0],
            'the same, 60 to 90 s [%]': 100.0 * worst[1],
            'error of the static level at 90 s [%]': 100.0 * (ratios / 1.3 - 1.0),
            'Stribeck velocity at 90 s [rad/s], 0.05 is true': velocities,
            'change found after [s]': found,
            'error after 15 s [%]': 100.0 * error,
        }
        for name, values in shown.items():
            print(f'{name:>48}', ''.join(f'{value:9.3g}' for value in values))


def show_cost(samples: int = 30_000, *, track_stribeck: bool = False) -> None:
    """Print what a state of a Panda costs."""
    robot = load_urdf(example_urdf('panda.urdf'), locked={'panda_finger_joint1': 0.0})
    model = identification_model(robot, ModelStructure('stribeck'), 7 * (0.03,))
    start = start_of_description(model)
    settings = OnlineSettings(payload_frame='panda_link8', track_stribeck=track_stribeck)
    online = OnlineIdentification(start, settings)
    rng = np.random.default_rng(0)
    stamps = 1e-3 * np.arange(samples)
    w, phase = 2.0 * np.pi * rng.uniform(0.1, 0.6, 7), rng.uniform(0.0, 6.0, 7)
    angle = w * stamps[:, None] + phase
    q, v, a = 0.6 * np.sin(angle), 0.6 * w * np.cos(angle), -0.6 * w**2 * np.sin(angle)
    q[:, 3] -= 1.5
    tau = model.base_efforts(start.base, q, v, a) + 0.1 * rng.normal(size=q.shape)
    took = np.zeros((2, samples))
    for k in range(samples):
        before = time.perf_counter(), time.thread_time()
        online.step(float(stamps[k]), q[k], tau[k])
        took[:, k] = time.perf_counter() - before[0], time.thread_time() - before[1]
    also = ', static levels tracked' if track_stribeck else ''
    print(f'\none state of a Panda at 1 kHz, {model.base.rank} base parameters{also} [us]')
    for name, each in zip(('wall time', 'time of the processor'), 1e6 * took[:, 3000:]):
        median, high = np.percentile(each, [50, 99])
        print(f'{name:>22}: mean {each.mean():.1f}, median {median:.1f}, 99 % {high:.1f}')


def main() -> None:
    """Run all scenes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--drift', type=float, default=600.0, help='duration of the drift [s]')
    parser.add_argument('--rest', type=float, default=3600.0, help='duration of the rest [s]')
    options = parser.parse_args()
    show_cost()
    show_cost(track_stribeck=True)
    states = joint_states(perturbed_es5(0.03, 1), scaled(lambda t: 1.0), 30.0, seed=1)
    start = start_of_identification(offline(states))
    structure = start.model.structure.friction
    print(f'\nES5: friction {structure}, deviation of errors {start.spread.round(3)}, '
          f'inflation {start.inflation:.2g}')  # fmt: skip
    show_steps(start)
    show_slow(start)
    show_rest(start, options.rest)
    show_drift(start, options.drift)


if __name__ == '__main__':
    main()

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
Contacts, wrenches and their cost, on the simulated ES5 with the sensors it is assumed to have.

Four tables: what the detector finds of pushes of 5 N m on joint 2, and what it finds that is not
there in ten minutes, against the error of its model; the noise of the two filters against their
delay; the wrench at the flange; the time of one step for an arm with seven joints.

"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import metadata
import os
import time

os.environ.setdefault('OMP_NUM_THREADS', '1')

import numpy as np
from numpy.typing import NDArray

from pushed_arm import arm, ArmLog, EFFORT_DELAY, perturbed, Push, simulate
from robot_dynamics_ros.core.dynamics.kinematics import ReferenceFrame
from robot_dynamics_ros.core.external_torque.contact_detector import ContactDetector
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.external_wrench import ExternalWrench
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_kalman import MomentumKalmanFilter
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.external_torque.threshold_learning import ThresholdLearner
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model import load_urdf, RobotModel

Array = NDArray[np.float64]

JOINT = 1
TORQUE = 5.0
SLOWEST = 0.1
"""Speed of the joint above which a push has to be found [rad/s]."""

WRENCH = np.array([30.0, -20.0, 25.0, 2.0, -1.0, 1.5])


@dataclass(frozen=True)
class Result:
    """Thresholds, contacts in nominal motion, and delays of the pushes [s], inf where missed."""

    thresholds: ContactThresholds
    false_alarms: int
    delays: Array


def detector_for(
    model: RobotModel, friction: DryFriction, thresholds: ContactThresholds | None = None
) -> ContactDetector:
    """Return a detector of the model with all that it needs."""
    balance = MomentumBalance(model, friction, effort_delay=EFFORT_DELAY)
    return ContactDetector(MomentumObserver(balance), thresholds)


def learnt(log: ArmLog, model: RobotModel, friction: DryFriction) -> ContactThresholds:
    """Return the thresholds that a log teaches."""
    detector = detector_for(model, friction)
    learner = ThresholdLearner(detector)
    for stamp, q, v, tau in zip(log.stamp, log.q, log.v, log.tau):
        detector.observer.step(stamp, q, v, tau)
        detector.update()
        learner.update(v, tau)
    return learner.thresholds()


def contacts(log: ArmLog, detector: ContactDetector) -> Array:
    """Return whether there is a contact for each message."""
    found = np.zeros(len(log.stamp), dtype=bool)
    for k, (stamp, q, v, tau) in enumerate(zip(log.stamp, log.q, log.v, log.tau)):
        detector.observer.step(stamp, q, v, tau)
        found[k] = detector.update()
    return found


def push_delays(log: ArmLog, found: Array, pushes: tuple[Push, ...]) -> Array:
    """Return the delay of every push on a joint that moves, from its start to the message."""
    delays = []
    for push in pushes:
        first = int(np.searchsorted(log.time, push.start + 1e-9))
        last = int(np.searchsorted(log.time, push.start + push.duration))
        speed = np.abs(log.v[first : first + 20, push.joint])
        if speed.min() < SLOWEST or found[first - 1]:
            continue
        hits = np.flatnonzero(found[first:last])
        delays.append(log.time[first + hits[0]] - push.start if len(hits) else np.inf)
    return np.array(delays)


def random_pushes(seed: int, duration: float) -> tuple[Push, ...]:
    """Return pushes at random times, up and down."""
    rng = np.random.default_rng([seed, 3])
    pushes = []
    start = 4.0
    while start < duration - 1.0:
        pushes.append(Push(start, 0.15, JOINT, TORQUE * float(rng.choice([-1.0, 1.0]))))
        start += float(rng.uniform(1.0, 1.6))
    return tuple(pushes)


def detection_table(seconds: float, draws: int) -> None:
    """Print what is found against the error of the model."""
    model, friction = arm()
    pushes = random_pushes(3, 0.7 * seconds)
    lesson, nominal = simulate(1, 0.5 * seconds), simulate(2, seconds)
    pushed = simulate(3, 0.7 * seconds, pushes)
    print(f'pushes of {TORQUE:g} N m on joint_2, moving faster than {SLOWEST:g} rad/s')
    print('error  threshold joint_2      false alarms    pushes  found in 20 ms   delay [ms]')
    print('       change  level [N m]    in nominal motion                        median 95% max')
    for error in (0.0, 0.02, 0.05, 0.1):
        results = []
        for draw in range(draws if error else 1):
            rng = np.random.default_rng([draw, 4])
            wrong, wrong_friction = perturbed(model, friction, error, rng)
            thresholds = learnt(lesson, wrong, wrong_friction)
            quiet = detector_for(wrong, wrong_friction, thresholds)
            contacts(nominal, quiet)
            found = contacts(pushed, detector_for(wrong, wrong_friction, thresholds))
            results.append(Result(thresholds, quiet.count, push_delays(pushed, found, pushes)))
        delays = np.concatenate([result.delays for result in results])
        change = [result.thresholds.change[JOINT] for result in results]
        level = [result.thresholds.level[JOINT] for result in results]
        alarms = '+'.join(str(result.false_alarms) for result in results)
        median, most, longest = 1e3 * np.percentile(delays, [50, 95, 100], method='lower')
        print(
            f'{100 * error:3.0f} %  {min(change):.2f}-{max(change):.2f} {min(level):.2f}-'
            f'{max(level):.2f}   {alarms:>12} in {seconds:.0f} s each  {len(delays):5d}  '
            f'{100 * np.mean(delays <= 0.02):8.1f} %  {median:8.1f} {most:5.1f} {longest:5.1f}',
            flush=True,
        )


def filter_table() -> None:
    """Print noise against delay of both filters, for joint 2 in motion."""
    model, friction = arm()
    log = simulate(5, 30.0)
    print('\nfilter of joint_2        noise rms [N m]   half of a step after [ms]')
    for gain in (20.0, 30.0, 50.0, 100.0):
        observer = MomentumObserver(
            MomentumBalance(model, friction, effort_delay=EFFORT_DELAY), gain
        )
        values = []
        for stamp, q, v, tau in zip(log.stamp, log.q, log.v, log.tau):
            if observer.step(stamp, q, v, tau) and abs(v[JOINT]) > 0.2:
                values.append(observer.residual[JOINT])
        print(f'observer  {gain:5.0f} 1/s   {np.std(values):12.3f} {1e3 * np.log(2) / gain:16.1f}')
    for bandwidth in (50.0, 100.0, 140.0):
        balance = MomentumBalance(model, friction, effort_delay=EFFORT_DELAY)
        kalman = MomentumKalmanFilter(model.nv, bandwidth)
        values = []
        for stamp, q, v, tau in zip(log.stamp, log.q, log.v, log.tau):
            if balance.step(stamp, q, v, tau):
                kalman.step(balance.dt, balance.impulse)
                if abs(v[JOINT]) > 0.2:
                    values.append(kalman.tau_ext[JOINT])
        print(f'Kalman  {bandwidth:5.0f} rad/s   {np.std(values):12.3f} {1431 / bandwidth:16.1f}')


def wrench_table(seconds: float) -> None:
    """Print the error of a wrench at the flange."""
    model, friction = arm()
    log = simulate(7, seconds, wrench=WRENCH)
    sizes = np.linalg.norm(WRENCH.reshape(2, 3), axis=1)
    print(f'\nwrench at link_6, {sizes[0]:.0f} N and {sizes[1]:.1f} N m, all joints moving')
    print('error  levers                 samples  force error: median 95 %      moment error')
    for error in (0.0, 0.02):
        wrong, wrong_friction = perturbed(model, friction, error, np.random.default_rng([0, 4]))
        balance = MomentumBalance(wrong, wrong_friction, effort_delay=EFFORT_DELAY)
        observer = MomentumObserver(balance)
        late = ExternalWrench(wrong, 'link_6', ReferenceFrame.LOCAL_WORLD_ALIGNED)
        prompt = ExternalWrench(wrong, 'link_6', ReferenceFrame.LOCAL_WORLD_ALIGNED)
        rows = []
        for stamp, q, v, tau in zip(log.stamp, log.q, log.v, log.tau):
            observer.step(stamp, q, v, tau)
            late.follow(q, observer.kept(balance.dt))
            if stamp > 2.0 and observer.half_width.max() < 0.05:
                errors = [
                    np.linalg.norm((f - WRENCH).reshape(2, 3), axis=1)
                    for f in (late.solve(observer.residual), prompt.step(q, observer.residual))
                ]
                rows.append((prompt.levers[-1], *errors[0], *errors[1]))
        table = np.array(rows)
        chosen = table[table[:, 0] > late.smallest_lever, 1:]
        half, most = np.percentile(chosen, [50, 95], axis=0)
        for name, k in (('as old as the torques', 0), ('of now', 2)):
            texts = [
                f'{half[i]:.2f} {most[i]:.2f} {unit} = {100 * half[i] / size:.1f} '
                f'{100 * most[i] / size:.1f} %'
                for i, unit, size in ((k, 'N', sizes[0]), (k + 1, 'N m', sizes[1]))
            ]
            print(f'{100 * error:3.0f} %  {name:22} {len(chosen):7d}  {texts[0]:30} {texts[1]}')


def cost_table() -> None:
    """Print the time of one step for seven joints."""
    files = metadata.files('example-robot-data') or []
    path = next(str(file.locate()) for file in files if file.name == 'panda.urdf')
    fingers = {'panda_finger_joint1': 0.0}  # the other one follows
    model = load_urdf(path, locked=fingers, strict=False)
    n = model.nv
    friction = DryFriction(model.v_names, *(np.array(x) for x in (1.0, 1.0, 1.0, 1.2, 0.05)))
    detector = detector_for(
        model, friction, ContactThresholds(model.v_names, np.full(n, 1e9), np.full(n, 1e9))
    )
    solver = ExternalWrench(model, 'panda_link8')
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-0.5, 0.5, n), rng.normal(size=n), rng.normal(size=n)
    steps = 20000
    parts = np.zeros((steps, 3))
    for k in range(steps):
        begin = time.perf_counter()
        detector.observer.step(1e-3 * k, q, v, tau)
        middle = time.perf_counter()
        detector.update()
        late = time.perf_counter()
        solver.step(q, detector.observer.tau_ext)
        parts[k] = middle - begin, late - middle, time.perf_counter() - late
    parts *= 1e6
    print(f'\none step, {n} joints [us]: median, 99 %')
    for name, column in zip(('observer', 'detector', 'wrench'), parts.T):
        print(f'{name:10} {np.median(column):6.1f} {np.percentile(column, 99):6.1f}')
    whole = parts.sum(axis=1)
    print(f'{"all":10} {np.median(whole):6.1f} {np.percentile(whole, 99):6.1f}')


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=600.0, help='of nominal motion')
    parser.add_argument('--draws', type=int, default=3, help='wrong models for each error')
    arguments = parser.parse_args()
    cost_table()
    filter_table()
    wrench_table(60.0)
    detection_table(arguments.seconds, arguments.draws)


if __name__ == '__main__':
    main()

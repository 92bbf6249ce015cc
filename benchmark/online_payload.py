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
How well and how soon a payload is found while the robot moves, and whether changes are explained.

``python benchmark/online_payload.py [--seeds N] [--minutes N]`` simulates the ES5 with its assumed
friction (stiction and Stribeck, which the model has not), sensors, and a model whose parameters
are wrong by 2 % each, and prints tables: errors of mass and centre of mass after the pick-up,
times to detection and to none, told causes against true ones, false detections, cost.

"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import sys
from time import perf_counter, thread_time

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test'))

from payload_scenes import (  # noqa: E402
    CUTOFF,
    EFFORT_DEVIATION,
    es5,
    identified,
    Push,
    recorded,
    Story,
    watched_model,
    watched_rows,
    WatchedRow,
)
from robot_dynamics_ros.core.identification.online.change_columns import (  # noqa: E402
    ChangeColumns,
)
from robot_dynamics_ros.core.identification.online.change_detection import Change  # noqa: E402
from robot_dynamics_ros.core.identification.online.effort_semantics import (  # noqa: E402
    EffortSemantics,
)
from robot_dynamics_ros.core.identification.online.model_health import HealthMonitor  # noqa: E402
from robot_dynamics_ros.core.identification.online.payload_watch import PayloadWatch  # noqa: E402
from robot_dynamics_ros.core.model.payload import Payload  # noqa: E402

COM = np.array([0.02, -0.01, 0.06])
MOTIONS = {'sines': 0.6, 'poses': 1.0}
AFTER = (1.0, 2.0, 3.0, 5.0)
EVENT, GONE = 10.0, 16.0
STATES_PER_ROW = 10
"""Joint states from a row to the next, at least."""


@dataclass
class Run:
    """What came of a run."""

    changes: list[Change]
    stamps: np.ndarray
    values: np.ndarray  # mass, centre of mass; nan without payload
    held: float
    costs: np.ndarray
    processor: float

    def at(self, stamp: float) -> np.ndarray:
        """Return mass and centre of mass at some time."""
        found: np.ndarray = self.values[
            min(np.searchsorted(self.stamps, stamp), len(self.stamps) - 1)
        ]
        return found


def watched(rows: list[WatchedRow], seed: int, stated: Payload | None = None) -> Run:
    """Show rows to a watch as a node would."""
    base, covariance = identified(seed)
    watch = PayloadWatch(watched_model(), base, covariance, 'flange', CUTOFF, stated)
    changes, values, costs, held = [], [], [], 0
    started = thread_time()
    for each in rows:
        residual = each.row.tau - each.row.regressor @ base
        begin = perf_counter()
        report = watch.step(each.row, residual, EFFORT_DEVIATION, each.use)
        costs.append(perf_counter() - begin)
        for _ in range(STATES_PER_ROW):
            watch.work()
        payload = watch.payload
        held += report.hold
        if report.change is not None:
            changes.append(report.change)
        values.append(np.full(4, np.nan) if payload is None else [payload.mass, *payload.com])
    spent = (thread_time() - started) / len(rows)
    stamps = np.array([each.row.stamp for each in rows])
    return Run(changes, stamps, np.array(values), held / len(rows), np.array(costs), spent)


def box(mass: float) -> Payload:
    """Return a payload."""
    return Payload(mass, 'flange', COM, mass * np.diag([2e-3, 2e-3, 1e-3]))


def pick_up(seeds: int) -> list[Run]:
    """Print the errors after pick-up, and the times."""
    print('\nPick-up at 10 s, put down at 16 s; errors: rms (largest) over the seeds')
    titles = '   '.join(f'after {t:g} s: mass %, com mm' for t in AFTER)
    print(f'motion  mass    told [s]    {titles}   none after [s]')
    runs = []
    for motion, speed in MOTIONS.items():
        for mass in (0.3, 1.0, 3.0):
            group = []
            for seed in range(seeds):
                payloads = [(EVENT, box(mass)), (GONE, None)]
                story = Story(20.0, motion, seed, payloads=payloads, speed=speed)
                group.append(watched(watched_rows(recorded(story)), seed))
            runs += group
            told = [_told(run, 'payload', EVENT) for run in group]
            none = [_told(run, 'payload removed', GONE) for run in group]
            cells = []
            for after in AFTER:
                found = np.array([run.at(EVENT + after) for run in group])
                errors = 100.0 * np.abs(found[:, 0] / mass - 1.0)
                apart = 1000.0 * np.linalg.norm(found[:, 1:] - COM, axis=1)
                cells.append(f'{_spread(errors)}  {_spread(apart)}')
            print(f'{motion:6} {mass:5.1f}   {_spread(np.array(told))}   ' + '   '.join(cells)
                  + f'   {_spread(np.array(none))}', flush=True)  # fmt: skip
    return runs


def _told(run: Run, kind: str, happened: float) -> float:
    times = [c.told - happened for c in run.changes if c.kind == kind and c.told > happened]
    return times[0] if times else np.nan


def _spread(values: np.ndarray) -> str:
    known = values[np.isfinite(values)]
    if not len(known):
        return '      -      '
    missing = '' if len(known) == len(values) else f' -{len(values) - len(known)}'
    return f'{np.sqrt(np.mean(known**2)):5.2f} ({known.max():5.2f}{missing})'


def causes() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield true causes and what of a story makes them."""
    unit = np.eye(6)
    yield 'payload', {'payloads': [(EVENT, box(1.0))]}
    yield 'payload removed', {'payloads': [(0.0, box(1.0)), (EVENT, None)]}
    for j in range(6):
        factor = 1.0 + 0.3 * unit[j]
        change = {'coulomb_positive': factor, 'coulomb_negative': factor}
        yield f'friction joint_{j + 1}', {'frictions': [(EVENT, change)]}
    yield 'friction joint_2', {'frictions': [(EVENT, {'viscous': 1.0 + 0.4 * unit[1]})]}
    yield 'sensor offset joint_2', {'offsets': [(EVENT, 2.0 * unit[1])]}
    yield 'sensor offset joint_5', {'offsets': [(EVENT, 0.5 * unit[4])]}
    tilted = 9.81 * np.array([np.sin(0.15), 0.0, -np.cos(0.15)])
    yield 'gravity direction', {'tilts': [(EVENT, tilted)]}
    yield 'contact', {'pushes': [Push(EVENT, EVENT + 0.6, 5.0 * unit[1])]}
    yield 'contact', {'pushes': [Push(EVENT, EVENT + 1.5, np.array([4.0, 6.0, 3.0, 0, 0, 0]))]}


def confusion(seeds: int) -> None:
    """Print what is told of each cause."""
    print('\nCauses at 10 s of 18 s: what is told first (how often), when, and whatever follows')
    for cause, parts in causes():
        told: Counter[str] = Counter()
        later: Counter[str] = Counter()
        times = []
        for motion, speed in MOTIONS.items():
            for seed in range(seeds):
                story = Story(18.0, motion, seed, speed=speed, **parts)  # type: ignore[arg-type]
                stated = box(1.0) if cause == 'payload removed' else None
                run = watched(watched_rows(recorded(story)), seed, stated)
                names = [_name(change) for change in run.changes]
                told[names[0] if names else 'nothing'] += 1
                later.update(names[1:])
                times += [run.changes[0].told - EVENT] if names else []
        rest = ', '.join(f'{name} {count}' for name, count in later.items())
        first = ', '.join(f'{name} {count}' for name, count in told.most_common())
        mean = f'{np.mean(times):.1f} s' if times else '-'
        print(f'{cause:22} -> {first}; {mean}{"; then " + rest if rest else ""}', flush=True)


def _name(change: Change) -> str:
    own = change.kind in ('friction', 'sensor offset')
    return f'{change.kind} {change.where}' if own else change.kind


def quiet(minutes: float) -> None:
    """Print what is told where nothing happens."""
    print(f'\n{minutes:g} min without any change')
    for k, (motion, speed) in enumerate(MOTIONS.items()):
        story = Story(30.0 * minutes, motion, 100 + k, speed=speed)
        run = watched(watched_rows(recorded(story)), 100 + k)
        told = [f'{change.kind} at {change.told:.0f} s' for change in run.changes]
        print(f'{motion}: {len(told)} detections {told}, {100.0 * run.held:.1f} % of rows held')


def cost(runs: list[Run]) -> None:
    """Print what a row costs."""
    every = 1e6 * np.concatenate([run.costs for run in runs])
    mean = 1e6 * float(np.mean([run.processor for run in runs]))
    part = np.quantile(every, [0.5, 0.99])
    print(f'\nPayload and changes: {mean:.0f} us of processor time a row; on the clock half')
    print(f'take less than {part[0]:.0f} us, 99 % less than {part[1]:.0f} us')
    rows = watched_rows(recorded(Story(12.0, 'poses', 0)))
    base, _ = identified(0)
    columns = ChangeColumns(watched_model(), base, 'flange', CUTOFF)
    health = HealthMonitor(es5().v_names, EFFORT_DEVIATION, columns)
    semantics = EffortSemantics(es5(), CUTOFF)
    begin = thread_time()
    for each in rows:
        residual = each.row.tau - each.row.regressor @ base
        health.step(each.row, residual, EFFORT_DEVIATION, each.use)
    middle = thread_time()
    for each in rows:
        semantics.step(each.row)
    spent = 1e6 / len(rows) * np.array([middle - begin, thread_time() - middle])
    total = np.append(spent, mean)
    rate = len(rows) / (rows[-1].row.stamp - rows[0].row.stamp)
    print(f'health {total[0]:.0f} us a row, meaning of efforts {total[1]:.0f} us a row; '
          f'{rate:.0f} rows/s: {total.sum() * rate / 1000.0:.1f} us a step at 1 kHz')  # fmt: skip


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=4)
    parser.add_argument('--minutes', type=float, default=10.0)
    chosen = parser.parse_args()
    cost(pick_up(chosen.seeds))
    confusion(max(1, chosen.seeds // 2))
    quiet(chosen.minutes)


if __name__ == '__main__':
    main()

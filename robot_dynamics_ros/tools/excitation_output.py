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

"""What `robot_dynamics excite` prints and writes."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.excitation.composite_motion import CompositeMotion
from robot_dynamics_ros.core.excitation.excitation import Excitation
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory
from robot_dynamics_ros.report.atomic import staged_directory
from robot_dynamics_ros.report.table import format_table

LIMITS = ('position', 'velocity', 'acceleration', 'effort')


@dataclass(frozen=True, eq=False)
class ExcitationRun:
    """
    One result with all that belongs to it.

    Attributes
    ----------
    problem : ExcitationProblem
    found : Excitation
        The Fourier series.
    motion : CompositeMotion
        It, and what follows it.
    rate : float
        Rows of the table per second.
    facts : dict
        How it was asked for, command line and notes.
    wall_time : float
        [s]

    """

    problem: ExcitationProblem
    found: Excitation
    motion: CompositeMotion
    rate: float
    facts: dict[str, Any]
    wall_time: float

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the joints."""
        return self.problem.limits.joint_names

    def sampled(self) -> tuple[Vector, Matrix, Matrix, Matrix, Matrix]:
        """Return times, positions, velocities, accelerations and torques at a constant rate."""
        trajectory = self.motion.trajectory
        count = int(np.ceil(trajectory.end * self.rate - 1e-9))
        t = np.linspace(0.0, trajectory.end, count + 1)
        q, v, a = trajectory.sample_many(t)
        return t, q, v, a, self.problem.torques(q, v, a)

    def as_dict(self) -> dict[str, Any]:
        """Return the content of excitation.json."""
        found, problem = self.found, self.problem
        random, check = found.random_measures, self.motion.check
        limits = problem.limits
        return {
            **self.facts,
            'condition': found.condition,
            'mean_deviation': found.deviation,
            'random': {
                'motions': len(random),
                'measure': problem.objective,
                'best': _number(random.min()),
                'median': _number(np.median(random)),
            },
            'parameters': problem.rank,
            'parameter_names': list(problem.model.base.base_names),
            'period': problem.period,
            'points': len(self.motion.trajectory.times),
            'parts': {name: [begin, end] for name, begin, end in self.motion.parts},
            'wall_time': self.wall_time,
            'least_distance': _number(check.least_distance),
            'nearest': check.nearest,
            'limits_used': {
                name: {key: round(float(check.used[key][j]), 6) for key in LIMITS}
                for j, name in enumerate(self.joint_names)
            },
            'limits': {
                name: {
                    'lower': limits.lower[j],
                    'upper': limits.upper[j],
                    'velocity': limits.velocity[j],
                    'acceleration': limits.acceleration[j],
                    'effort': _number(limits.effort[j]),
                }
                for j, name in enumerate(self.joint_names)
            },
            'series': {
                'center': found.series.center.tolist(),
                'sine': found.series.sine.tolist(),
                'cosine': found.series.cosine.tolist(),
            },
        }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def summary(run: ExcitationRun) -> str:
    """Return the text that is printed."""
    found, problem, check = run.found, run.problem, run.motion.check
    best = found.random_measures.min()
    reached = found.condition if problem.objective == 'condition' else found.deviation
    rows = [
        [name, *(100.0 * float(check.used[key][j]) for key in LIMITS)]
        for j, name in enumerate(run.joint_names)
    ]
    table = format_table(
        ['joint', *LIMITS], rows, title='Share of the limits that is used [%]', digits=3
    )
    lines = [
        f'{problem.rank} base parameters, period {problem.period:.4g} s, '
        f'{run.motion.trajectory.duration:.4g} s in all',
        f'condition number {found.condition:.4g}, mean standard deviation {found.deviation:.4g}',
        f'{problem.objective} {best / reached:.3g} times better than the best of '
        f'{len(found.random_measures)} random motions ({best:.4g})',
    ]
    if check.nearest:
        lines.append(f'least distance {1e3 * check.least_distance:.1f} mm, '
                     f'{check.nearest}')  # fmt: skip
    lines += [f'{name}: {begin:.4g} s to {end:.4g} s' for name, begin, end in run.motion.parts]
    lines.append(f'found in {run.wall_time:.3g} s')
    notes = [f'note: {note}' for note in run.facts['notes']]
    return '\n'.join([*lines, '', table, *notes])


def write_results(folder: Path, run: ExcitationRun, *, overwrite: bool = False) -> list[str]:
    """
    Write trajectory, table, facts and plots, all or nothing; return what was written.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    from robot_dynamics_ros.report.excitation_plots import plot_condition, plot_motion

    t, q, v, a, tau = run.sampled()
    with staged_directory(folder, overwrite=overwrite) as staging:
        (staging / 'excitation.yaml').write_text(trajectory_yaml(run.motion.trajectory), 'utf-8')
        (staging / 'excitation.csv').write_text(_table(run.joint_names, t, q, v, a, tau), 'utf-8')
        text = json.dumps(run.as_dict(), indent=2, allow_nan=False)
        (staging / 'excitation.json').write_text(text + '\n', 'utf-8')
        limits = run.problem.limits
        for name, values, unit, lower, upper in (
            ('position', q, 'rad | m', limits.lower, limits.upper),
            ('velocity', v, 'rad/s | m/s', -limits.velocity, limits.velocity),
            ('effort', tau, 'N m | N', -limits.effort, limits.effort),
        ):
            plot_motion(
                staging / f'excitation_{name}.png', t, values, run.joint_names, lower, upper,
                title=name.capitalize(), unit=unit,
            )  # fmt: skip
        plot_condition(
            staging / 'excitation_condition.png',
            run.found.history,
            run.found.random_measures,
            objective=run.problem.objective,
        )
        return sorted(entry.name for entry in staging.iterdir())


def trajectory_yaml(trajectory: JointTrajectory) -> str:
    """Return a trajectory_msgs/JointTrajectory as `ros2 topic pub` takes it."""
    columns = (trajectory.positions, trajectory.velocities, trajectory.accelerations)
    points = []
    for time, q, v, a in zip(trajectory.times.tolist(), *(part.tolist() for part in columns)):
        nanoseconds = round(time * 1e9)
        points.append(
            {
                'positions': q,
                'velocities': v,
                'accelerations': a,
                'time_from_start': {
                    'sec': nanoseconds // 10**9,
                    'nanosec': nanoseconds % 10**9,
                },
            }
        )
    content = {'joint_names': list(trajectory.joint_names), 'points': points}
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=10**6)


def _table(names: tuple[str, ...], t: Vector, q: Matrix, v: Matrix, a: Matrix, tau: Matrix) -> str:
    kinds = ('position', 'velocity', 'acceleration', 'effort')
    header = ['time', *(f'{name}_{kind}' for kind in kinds for name in names)]
    rows = np.column_stack((t, q, v, a, tau))
    lines = [','.join(header), *(','.join(f'{x:.12g}' for x in row) for row in rows)]
    return '\n'.join(lines) + '\n'

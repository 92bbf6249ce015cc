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
Memory and time of `robot_dynamics identify` on long logs of seven joints at 1 kHz.

One simulated period of an arm, repeated with fresh noise, is written to an MCAP bag. The command
runs in a process of its own, whose largest resident memory is taken.

"""

from __future__ import annotations

import argparse
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np

from identification_problems import RATE, simulated_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.report.table import Cell, format_table

PERIOD = 10.0
"""Of the simulated motion [s]."""

JOINTS = 7

PROGRAM = """
import resource, sys
from robot_dynamics_ros.tools.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Runs the command and says at last how much memory it has used [kB]."""


def main() -> int:
    """Make the logs, identify each, and print a table; return 1 if one needs too much memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument(
        '--lengths',
        nargs='+',
        type=float,
        default=[60.0, 600.0],
        metavar='S',
        help='of the logs [s]; an hour is 3600 and takes a while',
    )
    parser.add_argument('--most-memory', type=float, metavar='MB', help='fail above it')
    args = parser.parse_args()
    rows: list[list[Cell]] = []
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seconds in args.lengths:
            log = Path(folder) / 'log'
            write_log(log, Path(folder) / 'arm.urdf', seconds)
            took, peak = measured(log, Path(folder) / 'arm.urdf', Path(folder) / 'out')
            worst = max(worst, peak)
            rows.append([f'{seconds:g}', f'{seconds * RATE:.0f}', f'{took:.1f}', f'{peak:.0f}'])
    headers = ['log [s]', 'samples', 'time [s]', 'largest memory [MB]']
    title = f'robot_dynamics identify, {JOINTS} joints, MCAP at {RATE:g} Hz'
    print(format_table(headers, rows, title=title, right=headers))
    return int(args.most_memory is not None and worst > args.most_memory)


def write_log(path: Path, urdf: Path, seconds: float) -> None:
    """Write a bag of an arm that repeats one period, and the URDF of the arm."""
    urdf.write_text(arm_urdf(), encoding='utf-8')
    robot = load_urdf(urdf)
    scale = np.array([8.0, 8.0, 5.0, 5.0, 2.0, 1.5, 1.0])
    friction = DryFriction(
        robot.v_names, 0.3 * scale, 0.25 * scale, 0.25 * scale, np.array(1.0), np.array(0.05)
    )
    log = simulated_log(robot, friction, round(2 * PERIOD * RATE), 0)
    period = slice(len(log.stamps) // 2, None)  # the first one is not settled
    position, effort = log.position[period], log.effort[period]
    velocity = np.gradient(log.position, log.stamps, axis=0)[period]
    rng = np.random.default_rng(0)
    count = round(seconds * RATE)
    with BagWriter(path, overwrite=True) as bag, Progress('writing', count) as progress:
        for begin in range(0, count, len(position)):
            noise = rng.normal(size=(3, *position.shape))
            rows = zip(
                position + 1e-5 * noise[0],
                velocity + 1e-3 * noise[1],
                effort + 0.02 * scale * noise[2],
            )
            for k, values in enumerate(rows, begin):
                if k < count:
                    stamp = 10**18 + round(k * 1e9 / RATE)
                    bag.write_joint_state('/joint_states', stamp, robot.joint_names, *values)
            progress.advance(len(position))


def measured(log: Path, urdf: Path, output: Path) -> tuple[float, float]:
    """Return the time [s] and the largest memory [MB] of an identification."""
    words = ['identify', str(log), '--urdf', str(urdf), '--output', str(output)]
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, '-c', PROGRAM, *words, '--overwrite', '--force'],
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stderr)
    return took, int(done.stderr.split()[-1]) / 1e3


def arm_urdf() -> str:
    """Return an arm of seven joints, whose axes point along and across it in turn."""
    parts = ['<robot name="arm"><link name="l0"/>']
    for k in range(1, JOINTS + 1):
        mass = 5.0 / k
        axis = '0 0 1' if k % 2 else '0 1 0'
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="{mass:.6g}"/>'
            f'<inertia ixx="{0.01 * mass:.6g}" iyy="{0.012 * mass:.6g}" izz="{0.005 * mass:.6g}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="100" velocity="5"/></joint>'
        )
    return ''.join([*parts, '</robot>'])


if __name__ == '__main__':
    sys.exit(main())

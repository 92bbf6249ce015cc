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

"""The whole demonstration: start the nodes, perform the runs, end the nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.demo.graph import CONTROLLER, Graph, PLANT
from robot_dynamics_ros.demo.plan import LOCKSTEP, Pace, real_time_pace, Run
from robot_dynamics_ros.demo.processes import (
    child_environment,
    DemoError,
    NodeProcess,
    NodeProcesses,
)
from robot_dynamics_ros.demo.session import RunFailedError, RunRecord, Session
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.parameters import yaml_values

Say = Callable[[str], None]
"""Writes text for the user, who sees it at once."""

ATTEMPTS = 3
"""How often a run is tried in real time before it is made in lockstep, and how often there."""


def demonstrate(runs: list[Run], pace: Pace | None, log_folder: Path, say: Say) -> list[RunRecord]:
    """
    Perform runs on two nodes in processes of their own.

    Runs without friction are a check of the torques, not of the machine: they are made in
    lockstep, and show at what rate the machine exchanges states and commands. The others are made
    in real time, at the rate that it keeps up with.

    Parameters
    ----------
    runs : list of Run
        What to do, the runs without friction first.
    pace : Pace, optional
        The pace of the runs with friction; by default what the machine keeps up with.
    log_folder : Path
        Existing folder for what the nodes print.
    say : callable
        Tells the user what happens.

    Raises
    ------
    DemoError
        If a node died, refused something, does not answer, or did not end well.

    """
    settings = yaml_values(config_path(f'{CONTROLLER}.yaml'))
    with NodeProcesses() as processes:
        for node in (CONTROLLER, PLANT):  # which is the order in which they are stopped
            processes.add(_start(node, log_folder))
        model = _model(settings)
        with Graph(processes, say) as graph:
            session = Session(graph, model, np.array(settings['kp']), np.array(settings['kd']))
            records = _perform(session, runs, pace, say)
    ends = processes.bad_ends()
    if ends:
        raise DemoError(f'all runs were made, but {ends}')
    return records


def _start(node: str, log_folder: Path) -> NodeProcess:
    return NodeProcess(
        node,
        config_path(f'{node}.yaml'),
        {'autostart': False},
        log_folder / f'{node}.log',
        child_environment(),
    )


def _model(settings: dict[str, object]) -> RobotModel:
    """Return the arm as both nodes have it."""
    joints, armature = settings['joints'], settings['armature']
    assert isinstance(joints, list) and isinstance(armature, list)
    return load_urdf(urdf_path('es5.urdf.xacro'), armature=dict(zip(joints, armature)))


def _perform(session: Session, runs: list[Run], pace: Pace | None, say: Say) -> list[RunRecord]:
    records: list[RunRecord] = []
    for number, run in enumerate(runs, 1):
        if run.has_friction and pace is None:
            exchange_rates = [record.measurement.rate for record in records]
            pace = real_time_pace(float(np.mean(exchange_rates)))
        chosen = pace if pace is not None and run.has_friction else LOCKSTEP
        say(f'[{number:2d}/{len(runs)}] {run.label}, {chosen} ... ')
        record = _persist(session, run, chosen, say)
        if run.has_friction:
            pace = record.pace
        records.append(record)
        say(f'max error {1e3 * record.measurement.largest_error:.2f} mrad\n')
    return records


def _persist(session: Session, run: Run, pace: Pace, say: Say) -> RunRecord:
    """
    Perform a run, several times if need be, and in lockstep at last.

    Raises
    ------
    RunFailedError
        If that fails, too.

    """
    paces = [pace] * ATTEMPTS + ([] if pace.is_lockstep else [LOCKSTEP] * ATTEMPTS)
    for next_pace, follower in zip(paces, [*paces[1:], None]):
        try:
            return session.perform(run, next_pace)
        except RunFailedError as error:
            if follower is None:
                raise RunFailedError(f'{run.label}: {error}') from error
            say(f'no: {error}\n        again, {follower} ... ')
    raise RunFailedError(run.label)

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
One run after the other: set both nodes up for it, let the arm move, bring it to rest.

The nodes are taken through their lifecycle by its services, so two processes serve all runs and
the plant begins each at its initial position.

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import time
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.demo.graph import (
    COMMANDS,
    CONTROLLER,
    Graph,
    PLANT,
    STATES,
    TORQUES,
)
from robot_dynamics_ros.demo.measurement import (
    in_order,
    measure,
    Measurement,
    Nanoseconds,
    States,
    Torques,
)
from robot_dynamics_ros.demo.plan import inertia_of_joints, Pace, reference_times, Run
from robot_dynamics_ros.demo.processes import DemoError
from robot_dynamics_ros.demo.recorder import Record
from robot_dynamics_ros.resources import config_path
from robot_dynamics_ros.ros.conversions import message_from_points, TrajectoryPoints

CONFIGURE_TIMEOUT = 600.0
"""The first configuration on a machine compiles [s]."""

_ACTIVATION_TIMEOUT = 10.0
_STALL_TIMEOUT = 10.0
_COMPILING = '(compiling; takes a minute or two the first time on a machine) '

_STATE_TIMEOUT, _LOCKSTEP_STATE_TIMEOUT = 0.3, 5.0
"""
Silence after which the controller ramps down [s].

A robot is not silent for longer than 0.1 s unless something is wrong. A simulated one is, whenever
its machine does something else; its time stands still meanwhile.
"""

_FARTHEST_AHEAD = 20.0

_EFFORT_RATE, _LOCKSTEP_EFFORT_RATE = 100.0, 1e5
"""
Limits of the torque's rate, over the effort limits [1/s].

The acceleration of the motions has steps, and so has the torque; the limits of the parameter file
would smear them over 16 ms. The controller's clock means little in lockstep, nor do its rates.
"""


class RunFailedError(DemoError):
    """A run does not count, but can be repeated."""


@dataclass(frozen=True)
class RunRecord:
    """
    A run as it was.

    Attributes
    ----------
    run : Run
        What was to be done.
    pace : Pace
        How time passed.
    joint_names : tuple of str
        Columns of the measurement.
    begin : int
        Stamp at which the motion began [ns].
    records : dict of str to list of Record
        Everything that was recorded, by topic.
    measurement : Measurement
        The figures.

    """

    run: Run
    pace: Pace
    joint_names: tuple[str, ...]
    begin: int
    records: dict[str, list[Record]]
    measurement: Measurement


class Session:
    """
    Runs on a pair of nodes.

    Parameters
    ----------
    graph : Graph
        Where the nodes are.
    model : RobotModel
        The arm; its joints are those of the motions.
    kp, kd : ndarray, shape (nv,)
        Gains of the joints [N m/rad], [N m s/rad].

    """

    def __init__(self, graph: Graph, model: RobotModel, kp: Vector, kd: Vector) -> None:
        self._graph = graph
        self._model = model
        self._kp, self._kd = kp, kd
        self._names = model.joint_names
        self._last_stamp = 0

    def perform(self, run: Run, pace: Pace) -> RunRecord:
        """
        Perform a run.

        Raises
        ------
        RunFailedError
            If the controller went into a fault, or the recording has a large hole; both nodes are
            at rest again.
        DemoError
            If a node died, refused something or does not answer.

        """
        graph = self._graph
        self._await_the_last_stamp()
        self._set_up_plant(run, pace)
        self._set_up_controller(run, pace)
        graph.recorder.take()
        self._start(PLANT)
        graph.wait_for(graph.newest_stamp, 'joint states', _ACTIVATION_TIMEOUT)
        self._start(CONTROLLER)
        graph.take_fault()
        begin = self._move(run, pace)
        fault = graph.take_fault()
        self._rest()
        self._last_stamp = graph.newest_stamp()
        records = graph.recorder.take()
        measurement = measure(run.motion, begin, pace.rate, *self._decoded(records))
        failure = fault or measurement.failure
        if failure:
            raise RunFailedError(failure)
        return RunRecord(run, pace, self._names, begin, records, measurement)

    def _await_the_last_stamp(self) -> None:
        """Wait until lockstep is no longer ahead of time, so that stamps of runs are in order."""
        ahead = 1e-9 * (self._last_stamp - time.time_ns())
        if 0.0 < ahead < _FARTHEST_AHEAD:
            now = time.time_ns
            self._graph.wait_for(lambda: now() > self._last_stamp, 'time', 2 * _FARTHEST_AHEAD)

    def _set_up_plant(self, run: Run, pace: Pace) -> None:
        self._configure(
            PLANT,
            {
                'stepping': 'lockstep' if pace.is_lockstep else 'real_time',
                'state_rate': pace.rate,
                'brake_release_delay': pace.phases.brake_release,
                'friction_source': 'file' if run.has_friction else 'none',
                'friction_file': str(config_path('es5_friction.yaml')) if run.has_friction else '',
            },
        )

    def _set_up_controller(self, run: Run, pace: Pace) -> None:
        rates = _LOCKSTEP_EFFORT_RATE if pace.is_lockstep else _EFFORT_RATE
        kp, kd = self._kp, self._kd
        if run.mode == 'computed_torque':
            inertia = inertia_of_joints(self._model)
            kp, kd = kp / inertia, kd / inertia
        self._configure(
            CONTROLLER,
            {
                'mode': run.mode,
                'kp': kp.tolist(),
                'kd': kd.tolist(),
                'ramp_up_time': pace.phases.ramp_up,
                'ramp_down_time': pace.phases.ramp_down,
                'effort_rate_limits': (rates * self._model.limits.effort).tolist(),
                'state_timeout': _LOCKSTEP_STATE_TIMEOUT if pace.is_lockstep else _STATE_TIMEOUT,
            },
        )

    def _configure(self, node: str, parameters: Mapping[str, Any]) -> None:
        self._graph.set_parameters(node, parameters)
        self._graph.require_transition(node, 'configure', CONFIGURE_TIMEOUT, _COMPILING)

    def _start(self, node: str) -> None:
        """Activate a node, which may have to hear of the other one first."""
        deadline = time.monotonic() + _ACTIVATION_TIMEOUT
        while not self._graph.transition(node, 'activate'):
            if time.monotonic() > deadline:
                self._graph.require_transition(node, 'activate')

    def _move(self, run: Run, pace: Pace) -> int:
        """Send the reference, wait for the end of the motion, return the stamp of its begin."""
        graph = self._graph
        phases = pace.phases
        begin = graph.newest_stamp() + round(1e9 * phases.lead)
        graph.send_reference(self._reference(run, begin))
        end = begin + round(1e9 * (run.motion.duration + phases.tail))
        graph.wait_for(_Arrival(graph.newest_stamp, end), 'the end of the motion', 120.0)
        return begin

    def _reference(self, run: Run, begin: int) -> Any:
        times = reference_times(run.motion)
        q, v, a = run.motion.sample_many(times)
        points = TrajectoryPoints(
            self._names, 0.0, times, list(q), list(v), list(a), [None] * len(times)
        )
        message = message_from_points(points)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 10**9)
        return message

    def _rest(self) -> None:
        """Ramp the torque down on live states, then stop the plant."""
        for node in (CONTROLLER, PLANT):
            for transition in ('deactivate', 'cleanup'):
                self._graph.require_transition(node, transition)

    def _decoded(self, records: dict[str, list[Record]]) -> tuple[States, Torques, Nanoseconds]:
        types = self._graph.recorder.types
        states = [deserialize_message(each.data, types[STATES]) for each in records[STATES]]
        torques = [deserialize_message(each.data, types[TORQUES]) for each in records[TORQUES]]
        n = len(self._names)
        order = [list(states[0].name).index(name) for name in self._names]
        efforts = [list(torques[0].name).index(name) for name in self._names] if torques else []
        return (
            States(
                _stamps(states),
                _times(record.sent for record in records[STATES]),
                _times(record.received for record in records[STATES]),
                in_order([state.position for state in states], n)[:, order],
                in_order([state.velocity for state in states], n)[:, order],
            ),
            Torques(
                _stamps(torques),
                _times(record.sent for record in records[TORQUES]),
                in_order([torque.effort for torque in torques], n)[:, efforts],
            ),
            _times(record.sent for record in records[COMMANDS]),
        )


class _Arrival:
    """Whether simulated time has come to an instant; an error if it stands still."""

    def __init__(self, stamp: Callable[[], int], end: int) -> None:
        self._stamp, self._end = stamp, end
        self._last, self._since = 0, time.monotonic()

    def __call__(self) -> bool:
        now, stamp = time.monotonic(), self._stamp()
        if stamp != self._last:
            self._last, self._since = stamp, now
        if now - self._since > _STALL_TIMEOUT:
            raise DemoError(f'no joint state has come for {_STALL_TIMEOUT:g} s')
        return stamp >= self._end


def _stamps(messages: list[Any]) -> Any:
    return _times(m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages)


def _times(values: Any) -> Any:
    return np.fromiter(values, dtype=np.int64)

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
Play an excitation trajectory on an arm, and bring it to rest when something is wrong.

``~/start`` hands one motion to the controller: slowly to the start of the trajectory, a pause, and
the trajectory at ``speed_scale``. ``~/abort`` hands it another one, which brings the arm to rest
on the same path; so do joint states that stay away, an arm that is not where the motion is,
deactivation, and the end of the process. The controller has the whole motion: if this process is
killed, it goes on to the end.

"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import time
from typing import Any

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.core.control.trajectory_player import (
    PlayerSettings,
    PlayerState,
    TrajectoryPlayer,
)
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory as Spline
from robot_dynamics_ros.core.trajectory.trajectory_file import columns_of, read_trajectory
from robot_dynamics_ros.ros.conversions import message_from_trajectory
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.lifecycle import ManagedNode
from robot_dynamics_ros.ros.node_parameters import ExcitationParameters
from robot_dynamics_ros.ros.qos import REFERENCE, STATE_IN
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.timers import steady_timer

PERIOD = 0.02
"""Period of the watch [s]."""

LEAD = 0.5
"""Time in which a controller takes in a long motion [s]."""

BRAKING_LEAD = 0.05
"""Time in which the motion to rest reaches it [s]."""


class ExcitationNode(ManagedNode[ExcitationParameters]):
    """Hand motions to a controller, and watch the arm."""

    def __init__(self, name: str = 'excitation_node', **options: Any) -> None:
        super().__init__(name, ExcitationParameters, **options)

    def configure(self) -> None:
        """Read the trajectory, and build topics and services."""
        parameters = self.parameters
        self._trajectory = columns_of(read_trajectory(Path(parameters.trajectory_file))).spline()
        self.player = self._new_player()
        names = self._trajectory.joint_names
        self.buffer = JointStateBuffer(names, timeout=parameters.state_timeout)
        self._reader = JointStateReader()
        self._measured_at = 0.0
        self._publisher = self.create_publisher(
            JointTrajectory, parameters.output_topic, REFERENCE
        )
        self._subscription = self.create_subscription(
            JointState, 'joint_states', self._on_state, STATE_IN, raw=True
        )
        self._start_service = self.create_service(Trigger, '~/start', self._on_start)
        self._abort_service = self.create_service(Trigger, '~/abort', self._on_abort)
        self._timer = steady_timer(self, PERIOD, self._on_timer)
        self.diagnostics.add('excitation', self._report)

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_timer(self._timer)
        self.destroy_service(self._start_service)
        self.destroy_service(self._abort_service)
        self.destroy_subscription(self._subscription)
        self.destroy_publisher(self._publisher)

    def deactivate(self) -> None:
        """Bring the arm to rest; the controller does so by itself once it knows."""
        self._abort('the node is deactivated')
        self._publisher.wait_for_all_acked(Duration(seconds=0.2))

    def begin_stop(self) -> None:
        """Bring the arm to rest, on a signal to stop."""
        if self.is_configured:
            self._abort('the process is asked to stop')

    def is_at_rest(self) -> bool:
        """Whether no motion is under way."""
        return not (self.is_configured and self.player.is_moving)

    def _new_player(self) -> TrajectoryPlayer:
        parameters = self.parameters
        settings = PlayerSettings(
            speed_scale=parameters.speed_scale,
            approach_speed=parameters.approach_speed,
            approach_acceleration=parameters.approach_acceleration,
            approach_limit=parameters.approach_limit,
            tolerance=parameters.tolerance,
            state_timeout=parameters.state_timeout,
            braking_acceleration=parameters.braking_acceleration,
        )
        return TrajectoryPlayer(self._trajectory, settings)

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_state(self, message: bytes) -> None:
        state = self._reader
        if not state.read(message):
            self.note_malformed()
            return
        outcome = self.buffer.update(
            state.names,
            state.stamp,
            state.position,
            state.velocity,
            state.effort,
            time.monotonic(),
        )
        if outcome.is_accepted:
            self._measured_at = self._now()

    def _on_timer(self) -> None:
        was = self.player.state
        age = self.buffer.age(time.monotonic())
        reason = self.player.watch(self._now(), self.buffer.q, self._measured_at, age)
        if reason:
            self._abort(reason)
        elif self.player.state is not was:
            self.get_logger().info(f'the motion is {self.player.state.value}')

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.is_active:
            response.message = 'the node is not active'
            return response
        begin = self._now() + LEAD
        try:
            if not self.player.is_moving:
                self.player = self._new_player()
            q, v = np.array(self.buffer.q), np.array(self.buffer.v)
            motion = self.player.start(begin, q, v, self.buffer.age(time.monotonic()))
        except RobotDynamicsError as error:
            response.message = ' '.join(str(error).split())
            self.get_logger().error(f'not started: {response.message}')
            return response
        self._send(motion, begin)
        response.success = True
        response.message = f'{motion.end:.4g} s at {self.parameters.speed_scale:g} of the speed'
        self.get_logger().info(f'started: {response.message}')
        return response

    def _on_abort(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._abort('asked to')
        response.message = self.player.reason if response.success else 'no motion is played'
        return response

    def _abort(self, reason: str) -> bool:
        """Hand over the motion that brings the arm to rest; return whether there was need."""
        begin = self._now() + BRAKING_LEAD
        try:
            motion = self.player.abort(begin, reason)
        except RobotDynamicsError as error:
            self.get_logger().error(f'{reason}, but it cannot be aborted: {error}')
            return False
        if motion is None:
            return False
        self._send(motion, begin)
        self.get_logger().error(f'aborted: {reason}; at rest in {motion.end:.3g} s')
        return True

    def _send(self, motion: Spline, begin: float) -> None:
        self._publisher.publish(message_from_trajectory(motion, begin))

    def _report(self) -> Report:
        player = self.player
        values: dict[str, Any] = player.report()
        values['age of states [s]'] = self.buffer.age(time.monotonic())
        if player.reason:
            return Report(Level.ERROR, f'aborted: {player.reason}', values)
        if not self.is_active:
            return Report(Level.WARN, 'inactive', values)
        if self._publisher.get_subscription_count() == 0:
            topic = self._publisher.topic_name
            return Report(Level.WARN, f'nobody listens on {topic}', values)
        if player.state is PlayerState.IDLE:
            return Report(Level.OK, 'waits for ~/start', values)
        return Report(Level.OK, player.state.value, values)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(ExcitationNode, args)


if __name__ == '__main__':
    main()

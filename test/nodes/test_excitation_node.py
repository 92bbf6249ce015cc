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

"""The player of excitation trajectories, over DDS; an arm follows as a controller would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
import yaml

from robot_dynamics_ros.core.control.trajectory_player import PlayerState
from robot_dynamics_ros.core.trajectory.fourier import FourierSeries
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory as Spline
from robot_dynamics_ros.nodes.excitation_node import ExcitationNode
from robot_dynamics_ros.ros.conversions import message_from_trajectory
from robot_dynamics_ros.ros.qos import REFERENCE
from ros_graph import Graph, joint_state, Statuses

NAMES = ('joint_1', 'joint_2')
TOPIC = 'controller/joint_trajectory'


def trajectory() -> Spline:
    free = 0.2 * np.random.default_rng(4).normal(size=(5, 2))
    return FourierSeries.from_free(3.0, free).trajectory(NAMES, 1, 50.0)


def write_trajectory(path: Path, motion: Spline) -> None:
    points = [
        {
            'positions': list(p.positions),
            'velocities': list(p.velocities),
            'accelerations': list(p.accelerations),
            'time_from_start': {
                'sec': p.time_from_start.sec,
                'nanosec': p.time_from_start.nanosec,
            },
        }
        for p in message_from_trajectory(motion, 0.0).points
    ]
    path.write_text(yaml.safe_dump({'joint_names': list(motion.joint_names), 'points': points}))


class Arm:
    """Follows each trajectory from its stamp on, as joint_trajectory_controller does."""

    def __init__(self, graph: Graph, start: NDArray[np.float64]) -> None:
        self.graph, self.start = graph, start
        self.motions: list[tuple[float, Spline]] = []
        self.speaks, self.offset = True, np.zeros(2)
        self.states: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
        self._publisher = graph.probe.create_publisher(JointState, 'joint_states', 1)
        graph.probe.create_subscription(JointTrajectory, TOPIC, self._on_motion, REFERENCE)
        graph.probe.create_timer(0.01, self._on_timer)

    def _on_motion(self, message: JointTrajectory) -> None:
        points = message.points
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points]
        spline = Spline.from_points(
            message.joint_names,
            times,
            [p.positions for p in points],
            [p.velocities for p in points],
            [p.accelerations for p in points],
        )
        begin = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.motions.append((begin, spline))

    def _on_timer(self) -> None:
        now = self.graph.probe.get_clock().now().nanoseconds * 1e-9
        q, v = self.start, np.zeros(2)
        for begin, spline in self.motions:
            if now >= begin:
                q, v, _ = spline.sample(now - begin)
        self.states.append((now, q, v))
        if self.speaks:
            names = list(reversed(NAMES))
            self._publisher.publish(joint_state(names, (q + self.offset)[::-1], v[::-1]))

    @property
    def is_still(self) -> bool:
        return not self.states[-1][2].any()


class Bench:
    """A node, an arm, and the two services."""

    def __init__(self, graph: Graph, folder: Path, **parameters: Any) -> None:
        path = folder / 'excitation.yaml'
        write_trajectory(path, trajectory())
        self.graph = graph
        self.arm = Arm(graph, trajectory().positions[0] + [0.1, 0.0])
        options = {'autostart': True, 'approach_speed': 2.0, 'approach_acceleration': 5.0}
        self.node = graph.add(
            ExcitationNode,
            trajectory_file=str(path),
            output_topic=TOPIC,
            **{**options, **parameters},
        )
        assert graph.spin_until(lambda: self.node.is_active)
        assert graph.spin_until(lambda: self.node.buffer.is_complete)
        assert graph.spin_until(lambda: self.node._publisher.get_subscription_count() > 0)

    def call(self, name: str) -> Any:
        client = self.graph.probe.create_client(Trigger, f'excitation_node/{name}')
        return self.graph.call(client, Trigger.Request())

    def begin(self) -> None:
        answer = self.call('start')
        assert answer.success, answer.message
        moving = 0.3
        assert self.graph.spin_until(lambda: np.abs(self.arm.states[-1][2]).max() > moving)


def test_arm_goes_to_the_start_and_follows_the_whole_trajectory(
    graph: Graph, tmp_path: Path
) -> None:
    bench = Bench(graph, tmp_path)
    assert bench.call('start').success
    assert graph.spin_until(lambda: bench.node.player.state is PlayerState.DONE)
    ((begin, motion),) = bench.arm.motions
    t = np.linspace(0.0, 3.0, 200)
    played = motion.sample_many(motion.end - 3.0 + t)[0]
    # Times of the message are rounded to nanoseconds.
    np.testing.assert_allclose(played, trajectory().sample_many(t)[0], atol=1e-7)
    # its last state may be some milliseconds older than the node's last look at the clock
    assert graph.spin_until(lambda: bench.arm.states[-1][0] > begin + motion.end)
    np.testing.assert_allclose(bench.arm.states[-1][1], trajectory().positions[-1], atol=1e-9)


def test_speed_scale_counts_from_the_next_start_on(graph: Graph, tmp_path: Path) -> None:
    from rclpy.parameter import Parameter

    bench = Bench(graph, tmp_path)
    results = bench.node.set_parameters([Parameter('speed_scale', value=0.5)])
    assert results[0].successful, results[0].reason
    assert bench.call('start').success
    assert graph.spin_until(lambda: len(bench.arm.motions) == 1)
    motion = bench.arm.motions[0][1]
    peak = np.abs(trajectory().velocities).max(axis=0)
    played = np.abs(motion.sample_many(np.linspace(motion.end - 6.0, motion.end, 900))[1])
    np.testing.assert_allclose(played.max(axis=0), 0.5 * peak, rtol=1e-2)  # samples beside it


def stopped(bench: Bench) -> None:
    """Check that the newest motion has brought the arm to rest, within limits, without a jump."""
    assert bench.graph.spin_until(lambda: len(bench.arm.motions) == 2)
    (first_begin, first), (begin, braking) = bench.arm.motions
    t = np.linspace(0.0, braking.end, 300)
    _, v, a = braking.sample_many(t)
    for part, expected in zip(braking.sample(0.0), first.sample(begin - first_begin)):
        # Stamps are floats of 1e9 s with a resolution of 2.4e-7 s, at up to 30 rad/s^3.
        np.testing.assert_allclose(part, expected, atol=3e-5)
    limit = np.maximum(1.2 * np.abs(first.accelerations).max(axis=0), 10.0)
    assert (np.abs(a) <= 1.02 * limit).all()  # between points a little more than at them
    np.testing.assert_allclose(v[-1], 0.0, atol=1e-9)
    assert bench.graph.spin_until(lambda: bench.arm.is_still)
    bench.graph.spin_for(0.2)
    assert bench.arm.is_still


def test_abort_midway_brings_the_arm_to_rest(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.begin()
    assert bench.call('abort').success
    stopped(bench)
    assert bench.node.player.state is PlayerState.ABORTED
    assert not bench.call('abort').success
    statuses = Statuses(graph)
    assert graph.spin_until(lambda: 'asked to' in statuses.message('excitation'))


def test_silent_joint_states_abort(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.begin()
    bench.arm.speaks = False
    stopped(bench)
    assert 'no joint states' in bench.node.player.reason


def test_an_arm_that_is_elsewhere_aborts(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.begin()
    bench.arm.offset = np.array([0.0, 0.5])
    stopped(bench)
    assert "joint 'joint_2' is" in bench.node.player.reason


def test_deactivation_aborts(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.begin()
    bench.node.trigger_deactivate()
    stopped(bench)
    assert not bench.call('start').success


def test_a_request_to_stop_aborts_and_waits_for_rest(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.begin()
    bench.node.begin_stop()
    assert not bench.node.is_at_rest()
    stopped(bench)
    assert graph.spin_until(bench.node.is_at_rest)


def test_start_far_from_the_trajectory_is_refused(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path, approach_limit=0.05)
    answer = bench.call('start')
    assert not answer.success
    assert "joint 'joint_1' is at" in answer.message
    graph.spin_for(0.2)
    assert not bench.arm.motions


def test_start_without_states_is_refused(graph: Graph, tmp_path: Path) -> None:
    bench = Bench(graph, tmp_path)
    bench.arm.speaks = False
    graph.spin_for(0.5)
    answer = bench.call('start')
    assert not answer.success
    assert 'old, expected' in answer.message


@pytest.mark.parametrize('content', ['', 'joint_names: [a]\npoints: []\n'])
def test_a_file_that_is_none_ends_the_node(graph: Graph, tmp_path: Path, content: str) -> None:
    path = tmp_path / 'bad.yaml'
    path.write_text(content)
    node = graph.add(ExcitationNode, trajectory_file=str(path), autostart=True)
    assert graph.spin_until(lambda: node.is_finished)
    assert node.exit_code == 1


ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
ARMATURE = [0.7, 1.0, 0.7, 0.2, 0.2, 0.2]


def test_abort_brings_a_simulated_arm_under_model_torques_to_rest(
    graph: Graph, tmp_path: Path
) -> None:
    from robot_dynamics_ros.core.control.guard_state import GuardState
    from robot_dynamics_ros.nodes.forward_simulation_node import ForwardSimulationNode
    from robot_dynamics_ros.nodes.inverse_dynamics_node import InverseDynamicsNode

    robot = {'robot_description_file': ES5, 'crosscheck': False, 'autostart': True}
    # It hangs down, so that it stays until the law has it.
    hanging = [0.0, -1.5708, 0.0, 0.0, 0.0, 0.0]
    graph.add(
        ForwardSimulationNode,
        **robot,
        state_rate=200.0,
        armature=ARMATURE,
        initial_positions=hanging,
        friction_source='urdf',
    )
    law = graph.add(
        InverseDynamicsNode,
        **robot,
        joints=[f'joint_{k}' for k in range(1, 7)],
        armature=ARMATURE,
        gravity_compensated_by_hardware=False,
        stale_state_policy='hold_gravity',
        grace_time=10.0,
        state_timeout=1.0,
        kp=[400.0, 400.0, 400.0, 100.0, 100.0, 100.0],
        kd=[40.0, 40.0, 40.0, 10.0, 10.0, 10.0],
    )
    assert graph.spin_until(lambda: law.is_active and law.guard.state is GuardState.ACTIVE)
    free = 0.3 * np.random.default_rng(4).normal(size=(5, 6))
    free[0] = 0.0
    free[0] = law.buffer.q - FourierSeries.from_free(3.0, free).sample_many([0.0])[0][0]
    motion = FourierSeries.from_free(3.0, free).trajectory(law.buffer.joint_names, 1, 50.0)
    write_trajectory(tmp_path / 'excitation.yaml', motion)
    node = graph.add(
        ExcitationNode,
        trajectory_file=str(tmp_path / 'excitation.yaml'),
        output_topic='inverse_dynamics_node/reference',
        state_timeout=1.0,
        tolerance=2.0,  # a machine that stands still for a moment is no fault here
        autostart=True,
    )
    assert graph.spin_until(lambda: node.is_active and node.buffer.is_complete)
    assert graph.matched(node._publisher)
    client = graph.probe.create_client(Trigger, 'excitation_node/start')
    answer = graph.call(client, Trigger.Request())
    assert answer.success, answer.message
    assert graph.spin_until(lambda: np.abs(law.buffer.v).max() > 0.2)
    client = graph.probe.create_client(Trigger, 'excitation_node/abort')
    assert graph.call(client, Trigger.Request()).success
    assert graph.spin_until(lambda: node.player.state is PlayerState.ABORTED)
    # Friction of 7 N m holds the arm up to 18 mrad away from the end, by a gain of 400.
    assert graph.spin_until(lambda: np.abs(law.buffer.v).max() < 5e-3)
    assert law.guard.state is GuardState.ACTIVE
    np.testing.assert_allclose(law.buffer.q, node.player._motion.positions[-1], atol=0.02)

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

"""A real log played through DDS into the live node gives the torques of the offline replay."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from example_robots import example_urdf
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.reading import BagReader
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robot_dynamics_ros.nodes.inverse_dynamics_node import InverseDynamicsNode
from robot_dynamics_ros.report.torque_replay import replay_torques
from robot_dynamics_ros.ros.conversions import duration_from_seconds
from ros_graph import Graph
from shared_data import shared_path

FIRST, LAST = 1000, 1400
"""Messages that are played; the motion is fast there."""


def test_ur10_bag_through_dds_gives_the_replayed_torques(graph: Graph) -> None:
    bag = shared_path('data', 'ur10_unisa_rosbag2', 'ur10_exciting_trajectory.db3')
    urdf = example_urdf('ur10_robot.urdf')
    model = load_urdf(urdf)
    log = read_joint_log(bag).select(model.joint_names)
    replay = replay_torques(
        model, log.stamps, log.position, log.velocity, low_pass=ZeroPhaseFilter(5.0)
    )
    with BagReader(bag) as reader:
        topic = reader.topic('sensor_msgs/msg/JointState')
        messages = [message.data for message in reader.messages(topic)]
    assert len(messages) == len(log.stamps)  # so that rows and messages run in parallel

    node = graph.add(
        InverseDynamicsNode,
        robot_description_file=str(urdf),
        mode='feedforward',
        gravity_compensated_by_hardware=False,
        stale_state_policy='ramp_down',
        arming_speed=100.0,  # the log begins in the middle of a motion
        crosscheck=False,
        autostart=True,
        ramp_up_time=0.0,
        state_timeout=5.0,
        reference_jump=1.0,  # the log stands still while the reference is on its way
        effort_limits=[1e4] * 6,
        effort_rate_limits=[1e7] * 6,
    )
    torques = graph.collect(JointState, '/inverse_dynamics_node/torques')
    states = graph.probe.create_publisher(JointState, 'joint_states', 1)
    references = graph.probe.create_publisher(
        JointTrajectory, '/inverse_dynamics_node/reference', 1
    )
    assert graph.matched(states) and graph.matched(references)
    states.publish(messages[FIRST])
    assert graph.spin_until(lambda: node.is_active)

    motion = replay.motion
    rows = range(FIRST, LAST)
    begin = log.start + round(1e9 * log.stamps[FIRST])
    reference = JointTrajectory(joint_names=list(model.joint_names))
    reference.header.stamp.sec, reference.header.stamp.nanosec = divmod(begin, 10**9)
    for k in rows:
        reference.points.append(
            JointTrajectoryPoint(
                positions=motion.q[k].tolist(),
                velocities=motion.v[k].tolist(),
                accelerations=motion.a[k].tolist(),
                time_from_start=duration_from_seconds(log.stamps[k] - log.stamps[FIRST]),
            )
        )
    references.publish(reference)
    assert graph.spin_until(lambda: node.follower.kind == 'trajectory')

    live = []
    for k in rows[1:]:
        torques.clear()
        states.publish(messages[k])
        assert graph.spin_until(lambda: bool(torques)), f'no answer to message {k}'
        stamp = torques[-1].header.stamp
        expected = log.start + round(1e9 * log.stamps[k])
        assert abs(stamp.sec * 10**9 + stamp.nanosec - expected) < 1000
        answer = dict(zip(torques[-1].name, torques[-1].effort))
        live.append([answer[name] for name in model.joint_names])
    offline = replay.torque[FIRST + 1 : LAST]
    # The reference is met at its points up to the rounding of stamps of 1.6e9 s to 0.24 us,
    # in which accelerations of up to 10 rad/s^2 with jerks of 100 rad/s^3 change by 1e-5 parts.
    assert np.abs(np.array(live) - offline).max() < 1e-4 * np.abs(offline).max()

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
"""The simulated robot in contact, pushed, paused, with drives and sensors, over DDS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.nodes.forward_simulation_node import ForwardSimulationNode
from ros_graph import Graph

NODE = '/forward_simulation_node'
COMMANDS = 'effort_controller/commands'
FLOOR = 'package://robot_dynamics_ros/config/worlds/floor.yaml'
ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
NAMES = [f'joint_{i}' for i in range(1, 7)]

SLIDER = """<robot name="slider">
  <link name="base"/>
  <link name="block">
    <inertial><mass value="2"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="lift" type="prismatic">
    <parent link="base"/><child link="block"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="1.0" effort="100" velocity="10"/>
  </joint>
</robot>"""

BOX = """<robot name="box">
  <link name="box">
    <inertial><mass value="3"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  <link name="flag">
    <inertial><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="pole" type="revolute">
    <parent link="box"/><child link="flag"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="10"/>
  </joint>
</robot>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / 'slider.urdf').write_text(SLIDER)
    (tmp_path / 'box.urdf').write_text(BOX)
    return tmp_path


def simulated(graph: Graph, file: Any, **parameters: Any) -> Any:
    basic = {
        'robot_description_file': str(file),
        'autostart': True,
        'crosscheck': False,
        'hold_until_command': False,
        'state_rate': 200.0,
    }
    node = graph.add(ForwardSimulationNode, **{**basic, **parameters})
    assert graph.spin_until(lambda: node.is_active)
    return node


def test_block_falls_on_the_floor_and_its_weight_is_the_force_there(
    graph: Graph, folder: Path
) -> None:
    markers = graph.collect(MarkerArray, f'{NODE}/contacts')
    wrenches = graph.collect(WrenchStamped, f'{NODE}/contacts/block')
    states = graph.collect(JointState, 'joint_states')
    simulated(graph, folder / 'slider.urdf', world_file=FLOOR, initial_positions=[0.4])
    assert graph.spin_until(lambda: wrenches and wrenches[-1].wrench.force.z > 0.0)
    graph.spin_for(0.3)
    assert states[-1].position[0] == pytest.approx(0.1, abs=1e-6), 'the radius'
    assert wrenches[-1].header.frame_id == 'block'
    assert wrenches[-1].wrench.force.z == pytest.approx(2.0 * 9.81, rel=1e-6)
    arrows = [each for each in markers[-1].markers if each.type == Marker.ARROW and each.points]
    assert len(arrows) == 1
    begin, end = arrows[0].points
    assert begin.z == pytest.approx(0.0, abs=1e-6) and end.z > begin.z


def test_position_limits_stop_the_joint(graph: Graph, folder: Path) -> None:
    states = graph.collect(JointState, 'joint_states')
    node = simulated(graph, folder / 'slider.urdf', real_time_factor=3.0)
    assert graph.spin_until(lambda: states and states[-1].position[0] < -0.49)
    graph.spin_for(0.3)
    assert states[-1].position[0] == pytest.approx(-0.5, abs=1e-6)
    assert node.hardware.state.tau_limit[0] == pytest.approx(2.0 * 9.81, rel=1e-6)


def test_push_acts_for_its_time_in_the_frame_of_its_header(graph: Graph, folder: Path) -> None:
    node = simulated(
        graph, folder / 'slider.urdf', stepping='lockstep', external_wrench_duration=0.05
    )
    publisher = graph.probe.create_publisher(WrenchStamped, f'{NODE}/external_wrench', 1)
    commands = graph.probe.create_publisher(Float64MultiArray, COMMANDS, 1)
    assert graph.matched(publisher) and graph.matched(commands)
    message = WrenchStamped()
    message.header.frame_id = 'block'
    message.wrench.force.z = 10.0
    node._ticker.cancel()
    before = node.hardware.state
    publisher.publish(message)
    assert graph.spin_until(lambda: node._wrenches.total(before.time) is not None)
    weight = 2.0 * 9.81
    for count in range(1, 21):  # 0.1 s
        commands.publish(Float64MultiArray(data=[weight]))
        assert graph.spin_until(lambda: node.counts['commands'] == count)  # noqa: B023
    gained = node.hardware.state.v[0] - before.v[0]
    # 10 N on 2 kg for 0.05 s, then nothing.
    assert gained == pytest.approx(10.0 / 2.0 * 0.05, rel=1e-9)
    message.header.frame_id = 'nowhere'
    publisher.publish(message)
    assert graph.spin_until(lambda: node.counts['bad_wrench'] == 1)
    message.header.frame_id = 'block'
    message.wrench.force.z = float('nan')
    publisher.publish(message)
    assert graph.spin_until(lambda: node.counts['bad_wrench'] == 2)


def test_truth_closes_the_equation_of_motion(graph: Graph) -> None:
    motions = graph.collect(JointTrajectory, f'{NODE}/truth/motion')
    frictions = graph.collect(JointState, f'{NODE}/truth/friction')
    node = simulated(
        graph,
        ES5,
        initial_positions=[0.1, -0.5, 0.4, 0.2, 0.3, 0.1],
        friction_source='file',
        friction_file='package://robot_dynamics_ros/config/es5_friction.yaml',
        armature=[0.7, 1.0, 0.7, 0.2, 0.2, 0.2],
    )
    assert graph.spin_until(lambda: len(motions) > 20 and len(frictions) > 20)
    rubbing = {(f.header.stamp.sec, f.header.stamp.nanosec): f.effort for f in frictions}
    motion = next(
        m for m in motions[10:] if (m.header.stamp.sec, m.header.stamp.nanosec) in rubbing
    )
    assert list(motion.joint_names) == NAMES
    (point,) = motion.points
    needed = rnea(node.model, point.positions, point.velocities, point.accelerations)
    friction = rubbing[motion.header.stamp.sec, motion.header.stamp.nanosec]
    given = np.array(point.effort) - np.array(friction)
    np.testing.assert_allclose(needed, given, atol=1e-9)  # rounding of 60 N m


def test_time_stands_still_while_paused_and_goes_by_single_steps(
    graph: Graph, folder: Path
) -> None:
    node = simulated(graph, folder / 'slider.urdf')
    pausing = graph.probe.create_client(SetBool, f'{NODE}/pause')
    stepping = graph.probe.create_client(Trigger, f'{NODE}/step')
    resetting = graph.probe.create_client(Trigger, f'{NODE}/reset')
    assert not graph.call(stepping, Trigger.Request()).success, 'it is not paused'
    assert graph.call(pausing, SetBool.Request(data=True)).message == 'paused'
    steps, time = node._steps, node.hardware.state.time
    graph.spin_for(0.3)
    assert node._steps == steps
    for count in range(1, 4):
        assert graph.call(stepping, Trigger.Request()).success
        assert node.hardware.state.time == pytest.approx(time + count / 200.0, abs=1e-12)
    assert graph.call(resetting, Trigger.Request()).success
    assert node._steps == 0 and node.hardware.state.q[0] == 0.0
    assert graph.call(pausing, SetBool.Request(data=False)).message == 'running'
    assert graph.spin_until(lambda: node._steps > 5)


def test_floating_box_rests_on_its_corners(graph: Graph, folder: Path) -> None:
    base = graph.collect(Odometry, f'{NODE}/truth/base')
    wrenches = graph.collect(WrenchStamped, f'{NODE}/contacts/box')
    states = graph.collect(JointState, 'joint_states')
    simulated(
        graph,
        folder / 'box.urdf',
        floating_base=True,
        initial_base_pose=[0.0, 0.0, 0.15, 0.0, 0.0, 0.0, 1.0],
        world_file=FLOOR,
    )
    assert graph.spin_until(lambda: wrenches and wrenches[-1].wrench.force.z > 0.0)
    graph.spin_for(0.5)
    assert base[-1].pose.pose.position.z == pytest.approx(0.1, abs=1e-4)
    assert wrenches[-1].wrench.force.z == pytest.approx(3.1 * 9.81, rel=1e-4)
    assert list(states[-1].name) == ['pole'], 'the base has no sensor'


def test_elastic_joint_swings_with_its_own_frequency(graph: Graph, folder: Path) -> None:
    """A motor that is pushed once swings against the link: w^2 = k (1/m + 1/b)."""
    stiffness, mass, motor = 2000.0, 2.0, 0.5
    node = simulated(
        graph,
        folder / 'slider.urdf',
        stepping='lockstep',
        state_rate=1000.0,
        armature=[motor],
        joint_stiffness=[stiffness],
        hold_until_command=True,
        enforce_effort_limits=False,
    )
    commands = graph.probe.create_publisher(Float64MultiArray, COMMANDS, 1)
    assert graph.matched(commands)
    weight = mass * 9.81
    stretch = []
    for count in range(1, 201):
        push = 50.0 if count <= 5 else 0.0
        commands.publish(Float64MultiArray(data=[weight + push]))
        assert graph.spin_until(lambda: node.counts['commands'] == count)  # noqa: B023
        stretch.append(node.hardware.state.motors.tau_joint[0])
    swing = np.array(stretch[5:])
    swing -= swing.mean()
    up = np.flatnonzero((swing[:-1] < 0.0) & (swing[1:] >= 0.0))
    crossings = up + swing[up] / (swing[up] - swing[up + 1])
    measured = 2.0 * np.pi / (1e-3 * np.diff(crossings).mean())
    # The mean that is taken off is not exactly the middle of the swing.
    assert measured == pytest.approx(np.sqrt(stiffness * (1.0 / mass + 1.0 / motor)), rel=0.01)


def test_bristles_carry_the_arm_without_any_command(graph: Graph) -> None:
    states = graph.collect(JointState, 'joint_states')
    simulated(
        graph,
        ES5,
        friction_source='file',
        friction_file='package://robot_dynamics_ros/config/es5_friction.yaml',
        friction_model='lugre',
        armature=[0.7, 1.0, 0.7, 0.2, 0.2, 0.2],
        initial_positions=[0.3, 1.5708, 0.0, 0.0, 0.0, 0.0],  # upright
    )
    assert graph.spin_until(lambda: len(states) > 200)
    position = np.array([state.position for state in states])
    moved = np.abs(position - position[0]).max(axis=0)
    # It gives way by what gravity needs over the stiffness, and stays.
    assert 0.0 < moved.max() < 1e-3
    assert np.abs(states[-1].velocity).max() < 1e-4


def test_bristles_elastic_joints_and_a_floor_go_together(graph: Graph, folder: Path) -> None:
    """A block that its motor lets down: the floor carries what the bristles do not hold."""
    (folder / 'friction.yaml').write_text(
        'friction:\n  lift: {coulomb: 6.0, bristle_stiffness: 1.0e+5, bristle_damping: 300.0, '
        'load_coefficient: 0.05, viscous: 20.0, viscous_negative: 40.0}\n'
    )
    wrenches = graph.collect(WrenchStamped, f'{NODE}/contacts/block')
    states = graph.collect(JointState, 'joint_states')
    node = simulated(
        graph,
        folder / 'slider.urdf',
        world_file=FLOOR,
        self_collision=True,
        initial_positions=[0.15],
        friction_source='file',
        friction_file=str(folder / 'friction.yaml'),
        friction_model='lugre',
        armature=[0.5],
        joint_stiffness=[2000.0],
        joint_damping=[40.0],
    )
    assert graph.spin_until(lambda: wrenches and wrenches[-1].wrench.force.z > 0.0)
    graph.spin_for(0.7)
    state = node.hardware.state
    assert states[-1].position[0] == pytest.approx(0.1, abs=1e-6), 'the radius'
    weight = 2.0 * 9.81
    assert wrenches[-1].wrench.force.z + state.motors.tau_joint[0] == pytest.approx(
        weight, rel=1e-3
    )
    # The motor slid down, so its friction still carries a part of the block.
    assert 0.0 < state.motors.tau_joint[0] < 6.0 * 1.5
    assert state.tau_friction[0] == pytest.approx(-state.motors.tau_joint[0], rel=1e-2)


def test_floating_robot_has_joint_friction(graph: Graph, folder: Path) -> None:
    (folder / 'friction.yaml').write_text('friction:\n  pole: {coulomb: 0.2, viscous: 0.1}\n')
    node = simulated(
        graph,
        folder / 'box.urdf',
        floating_base=True,
        initial_base_pose=[0.0, 0.0, 0.15, 0.0, 0.0, 0.0, 1.0],
        world_file=FLOOR,
        friction_source='file',
        friction_file=str(folder / 'friction.yaml'),
        armature=[0.01],
        joint_stiffness=[10.0],
    )
    assert graph.spin_until(lambda: node.hardware.state.time > 0.5)
    state = node.hardware.state
    assert sum(c.force[2] for c in state.contacts) == pytest.approx(3.1 * 9.81, rel=1e-3)
    assert state.tau_friction.shape == (7,) and not state.tau_friction[:6].any()


def test_drives_and_sensors_make_it_like_a_real_arm(graph: Graph) -> None:
    states = graph.collect(JointState, 'joint_states')
    node = simulated(
        graph,
        ES5,
        hold_until_command=True,
        drives_file='package://robot_dynamics_ros/config/es5_drives.yaml',
        sensors_file='package://robot_dynamics_ros/config/es5_sensors.yaml',
    )
    assert graph.spin_until(lambda: len(states) > 100)
    position = np.array([state.position for state in states[-50:]])
    velocity = np.array([state.velocity for state in states[-50:]])
    assert not position.any(), 'held, and zero is a step of the encoder'
    assert 1e-3 < velocity.std() < 4e-3, 'noise of 2e-3 rad/s'
    np.testing.assert_allclose(
        node.model.armature, np.array([101, 121, 101, 101, 101, 101]) ** 2 * 1e-5
        * np.array([7, 7, 7, 2, 2, 2])
    )  # fmt: skip


@pytest.mark.parametrize(
    ('parameters', 'said'),
    [
        ({'world_file': 'nowhere.yaml'}, "there is no file 'nowhere.yaml'"),
        (
            {'joint_stiffness': [1e4] * 5, 'armature': [0.1] * 6},
            'joint_stiffness has 5 entries, expected 6',
        ),
        ({'joint_stiffness': [1e4] * 6}, 'set armature or drives_file'),
        ({'joint_damping': [1.0] * 6}, 'set joint_stiffness'),
        ({'friction_model': 'lugre'}, 'friction_model lugre needs friction_source file'),
        (
            {'world_file': FLOOR, 'initial_positions': [0.0, -1.5, 0.0, 0.0, 0.0, 0.0]},
            "m inside 'floor'; move the robot",
        ),
        ({'initial_base_pose': [0.0] * 7}, 'has length 0, expected 1'),
        (
            {
                'armature': [0.1] * 6,
                'drives_file': 'package://robot_dynamics_ros/config/es5_drives.yaml',
            },
            'armature and drives_file both state the inertia',
        ),
    ],
)
def test_bad_configuration_is_refused(
    graph: Graph, parameters: dict[str, Any], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    node = graph.add(
        ForwardSimulationNode, robot_description_file=ES5, crosscheck=False, **parameters
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert said in capfd.readouterr().err

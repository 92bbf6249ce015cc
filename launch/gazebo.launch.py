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
Simulate the ES5 arm in Gazebo and drive it with model torques.

Through ros2_control, with the same controllers as on hardware; with use_ros2_control:=false
through one force topic for each joint instead.

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription
from launch.conditions import IfCondition, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import IfElseSubstitution, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    control = LaunchConfiguration('use_ros2_control')
    with_control, without_control = IfCondition(control), UnlessCondition(control)
    robot = {'use_sim_time': True, 'autostart': True, 'robot_description_file': ''}
    # Gazebo's arm carries no weight by itself, so the controller has to.
    controller = launching.controller_node(
        {**robot, 'gravity_compensated_by_hardware': False},
        overrides=LaunchConfiguration('gazebo_config_dir'),
    )
    # Without ros2_control joint_force_relay_node takes the forces back when commands stop.
    watched = IfElseSubstitution(control, LaunchConfiguration('watchdog'), 'false')
    watchdog = launching.robot_node(
        launching.WATCHDOG,
        {**robot, 'gravity_compensated_by_hardware': False},
        condition=IfCondition(watched),
    )
    # What holds the arm until the controller node carries it. With ros2_control: time runs,
    # because the controllers do nothing in a paused Gazebo, and gz_ros2_control holds each joint
    # at zero velocity until a controller claims it (hold_joints); so the effort controller is
    # activated last. It must not be deactivated then: Gazebo does not hold a second time. Without
    # ros2_control nothing in Gazebo holds a joint, but it publishes joint states while it is
    # paused; so it starts paused, at time zero, and time runs when the torque is there.
    loaded = launching.spawner('effort_controller', '--inactive')
    activated = launching.spawner('effort_controller', condition=with_control)
    unpaused = ExecuteProcess(
        cmd=unpause_command(), condition=without_control, name='unpause', output='both'
    )
    carrying = launching.waiter_until_carrying(watched)
    create = Node(
        package='ros_gz_sim',
        executable='create',
        namespace=LaunchConfiguration('namespace'),
        arguments=['-topic', 'robot_description', '-name', LaunchConfiguration('robot_name')],
        output='both',
    )
    broadcaster = launching.spawner('joint_state_broadcaster', condition=with_control)
    return LaunchDescription(
        [
            *arguments(),
            gazebo(),
            launching.robot_state_publisher(*xacro_arguments(), use_sim_time=True),
            *launching.in_order(create, broadcaster, loaded),
            bridge(launching.installed('config', 'gazebo_clock_bridge.yaml'), with_control),
            bridge(LaunchConfiguration('bridge_file'), without_control),
            launching.robot_node('joint_force_relay_node', robot, condition=without_control),
            controller,
            watchdog,
            launching.needed_until_handover(watchdog),
            *launching.hand_over(carrying, [activated, unpaused]),
            launching.after_success(activated, []),
            launching.after_success(unpaused, []),
            launching.rviz_node(use_sim_time=True),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.yes_or_no(
            'use_ros2_control',
            'true',
            "Whether Gazebo's arm is driven through gz_ros2_control, or through force topics.",
        ),
        launching.controller('gravity_compensation'),
        launching.watchdog(),
        launching.description_file(),
        launching.config_dir(),
        DeclareLaunchArgument(
            'gazebo_config_dir',
            default_value=launching.installed('config', 'gazebo'),
            description='Folder with what differs in Gazebo from the files in config_dir, one for '
            'each controller node.',
        ),
        launching.controllers_file(),
        DeclareLaunchArgument(
            'bridge_file',
            default_value=launching.installed('config', 'es5_gazebo_bridge.yaml'),
            description='Topics between ROS and Gazebo without ros2_control.',
        ),
        DeclareLaunchArgument(
            'world_file',
            default_value=launching.installed('worlds', 'es5.sdf'),
            description='World of Gazebo. Its gravity is that of the nodes.',
        ),
        DeclareLaunchArgument(
            'world_name',
            default_value='es5_world',
            description='Name of the world in that file.',
        ),
        DeclareLaunchArgument(
            'robot_name',
            default_value='es5',
            description='Name of the robot in Gazebo, the one in bridge_file.',
        ),
        launching.yes_or_no('gui', 'true', 'Whether Gazebo has a window.'),
        launching.handover_delay(),
        launching.namespace(),
        launching.rviz(),
        launching.log_level(),
    ]


def gazebo() -> IncludeLaunchDescription:
    """Return Gazebo, running with ros2_control and paused without."""
    control, gui = LaunchConfiguration('use_ros2_control'), LaunchConfiguration('gui')
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])
        ),
        launch_arguments={
            'gz_args': [
                IfElseSubstitution(control, '-r ', ''),
                IfElseSubstitution(gui, '', '-s '),
                "-v 3 '",
                LaunchConfiguration('world_file'),
                "'",
            ],
            'on_exit_shutdown': 'true',
        }.items(),
    )


def xacro_arguments() -> list[str | IfElseSubstitution | LaunchConfiguration]:
    """Return what makes of the description one for Gazebo."""
    plugin = 'hardware_plugin:=gz_ros2_control/GazeboSimSystem gazebo_topics:=false'
    topics = 'hardware_plugin:=none gazebo_topics:=true'
    return [
        ' ',
        IfElseSubstitution(LaunchConfiguration('use_ros2_control'), plugin, topics),
        " controllers_file:='",
        LaunchConfiguration('controllers_file'),
        "' namespace:='",
        LaunchConfiguration('namespace'),
        "'",
    ]


def bridge(
    file: PathJoinSubstitution | LaunchConfiguration, condition: IfCondition | UnlessCondition
) -> Node:
    """Return the bridge between the topics of ROS and Gazebo."""
    return Node(
        package='ros_gz_bridge',
        executable='parameter_bridge',
        namespace=LaunchConfiguration('namespace'),
        parameters=[{'config_file': file}],
        condition=condition,
        output='both',
    )


def unpause_command() -> list[str | list[str | LaunchConfiguration]]:
    """Return the command that lets the time of Gazebo run."""
    return [
        'gz',
        'service',
        '--service',
        ['/world/', LaunchConfiguration('world_name'), '/control'],
        '--reqtype',
        'gz.msgs.WorldControl',
        '--reptype',
        'gz.msgs.Boolean',
        '--timeout',
        '5000',
        '--req',
        'pause: false',
    ]

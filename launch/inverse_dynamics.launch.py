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

r"""
Run inverse_dynamics_node beside a robot or a simulator that is already there.

It needs joint_states, robot_description (a topic, or description_file), and an effort controller
that takes effort_controller/commands. Say who carries the robot's weight::

    ros2 launch robot_dynamics_ros inverse_dynamics.launch.py \
        gravity_compensated_by_hardware:=false

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'robot_dynamics_ros'


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    boolean = {
        name: ParameterValue(LaunchConfiguration(name), value_type=bool)
        for name in ('autostart', 'use_sim_time', 'gravity_compensated_by_hardware')
    }
    description_file = ParameterValue(LaunchConfiguration('description_file'), value_type=str)
    return LaunchDescription(
        [
            *arguments(),
            LifecycleNode(
                package=PACKAGE,
                executable='inverse_dynamics_node',
                name='inverse_dynamics_node',
                namespace=LaunchConfiguration('namespace'),
                parameters=[
                    LaunchConfiguration('params_file'),
                    {**boolean, 'robot_description_file': description_file},
                ],
                remappings=[
                    ('effort_controller/commands', LaunchConfiguration('command_topic')),
                ],
                arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
                output='both',
            ),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        DeclareLaunchArgument(
            'gravity_compensated_by_hardware',
            choices=['true', 'false'],
            description='Whether the robot itself carries its weight. There is no default: if '
            'both the robot and this node do, or neither, the arm moves away.',
        ),
        DeclareLaunchArgument(
            'description_file',
            default_value='',
            description='URDF or xacro file; empty to take the topic robot_description.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution(
                [FindPackageShare(PACKAGE), 'config', 'inverse_dynamics_node.yaml']
            ),
            description='Parameters of the node.',
        ),
        DeclareLaunchArgument(
            'command_topic',
            default_value='effort_controller/commands',
            description='Topic of the effort controller, relative to the namespace.',
        ),
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
        DeclareLaunchArgument(
            'autostart',
            default_value='true',
            choices=['true', 'false'],
            description='Whether the node configures and activates itself.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Whether the node takes the time from /clock.',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='Log level of the node.',
        ),
    ]

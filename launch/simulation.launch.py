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
Simulate the ES5 arm and drive it with model torques.

Starts the plant (forward_simulation_node), one controller node and, unless told otherwise,
robot_state_publisher for RViz. Send a trajectory with::

    ros2 topic pub --once /inverse_dynamics_node/reference trajectory_msgs/msg/JointTrajectory ...

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import (
    Command,
    EqualsSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
)
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'robot_dynamics_ros'


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    description_file = LaunchConfiguration('description_file')
    robot = {
        'robot_description_file': ParameterValue(description_file, value_type=str),
        'autostart': ParameterValue(LaunchConfiguration('autostart'), value_type=bool),
        'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool),
    }
    # The simulated plant carries no weight by itself, so the controller has to.
    controller = {**robot, 'gravity_compensated_by_hardware': False}
    return LaunchDescription(
        [
            *arguments(),
            lifecycle_node('forward_simulation_node', robot),
            lifecycle_node('inverse_dynamics_node', controller, if_controller='inverse_dynamics'),
            lifecycle_node(
                'gravity_compensation_node', controller, if_controller='gravity_compensation'
            ),
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                namespace=LaunchConfiguration('namespace'),
                condition=IfCondition(LaunchConfiguration('robot_state_publisher')),
                parameters=[
                    {
                        'robot_description': ParameterValue(
                            Command(['xacro ', description_file]), value_type=str
                        ),
                        'use_sim_time': robot['use_sim_time'],
                    }
                ],
                output='both',
            ),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        DeclareLaunchArgument(
            'controller',
            default_value='inverse_dynamics',
            choices=['inverse_dynamics', 'gravity_compensation', 'none'],
            description='Node that commands the torques.',
        ),
        DeclareLaunchArgument(
            'description_file',
            default_value=PathJoinSubstitution(
                [FindPackageShare(PACKAGE), 'urdf', 'es5.urdf.xacro']
            ),
            description='URDF or xacro file of the robot.',
        ),
        DeclareLaunchArgument(
            'config_dir',
            default_value=PathJoinSubstitution([FindPackageShare(PACKAGE), 'config']),
            description='Folder with the parameter file of each node, named like the node.',
        ),
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of all nodes, one for each arm.'
        ),
        DeclareLaunchArgument(
            'autostart',
            default_value='true',
            choices=['true', 'false'],
            description='Whether the nodes configure and activate themselves.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Whether the nodes take the time from /clock.',
        ),
        DeclareLaunchArgument(
            'robot_state_publisher',
            default_value='true',
            choices=['true', 'false'],
            description='Whether robot_state_publisher runs (robot_description and tf).',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description="Log level of this package's nodes.",
        ),
    ]


def lifecycle_node(
    executable: str, parameters: dict[str, object], if_controller: str = ''
) -> LifecycleNode:
    """Return one of this package's nodes, started only if it is the controller asked for."""
    condition = None
    if if_controller:
        condition = IfCondition(
            EqualsSubstitution(LaunchConfiguration('controller'), if_controller)
        )
    config = PathJoinSubstitution([LaunchConfiguration('config_dir'), f'{executable}.yaml'])
    return LifecycleNode(
        package=PACKAGE,
        executable=executable,
        name=executable,
        namespace=LaunchConfiguration('namespace'),
        parameters=[config, parameters],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        condition=condition,
        output='both',
    )

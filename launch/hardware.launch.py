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
Drive an arm with effort controllers of ros2_control on model torques.

For the ES5 with the plugin of its drives, or without any robot on mock_components::

    ros2 launch robot_dynamics_ros hardware.launch.py hardware_plugin:=vendor/Es5System \
        gravity_compensated_by_hardware:=false stale_state_policy:=hold_gravity

For another robot give description_file, config_dir (with its joints) and controllers_file. For a
driver that brings a controller manager of its own: start_controller_manager:=false.

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import EqualsSubstitution, LaunchConfiguration, NotEqualsSubstitution
from launch_ros.actions import Node

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    effort_controller = LaunchConfiguration('effort_controller')
    manager = LaunchConfiguration('controller_manager')
    robot = {
        'autostart': launching.as_bool('autostart'),
        'gravity_compensated_by_hardware': launching.as_bool('gravity_compensated_by_hardware'),
        'stale_state_policy': LaunchConfiguration('stale_state_policy'),
        # From the topic, so that nodes and drives are told of one and the same robot.
        'robot_description_file': '',
    }
    commands = [(launching.COMMAND_TOPIC, [effort_controller, '/commands'])]
    controller = launching.controller_node(robot, remappings=commands)
    # In a process of its own: it brings the torque down when that of the controller is dead. It
    # only listens until then, so it watches also a controller that is started by hand.
    watchdog = launching.robot_node(
        launching.WATCHDOG,
        {**robot, 'autostart': True},
        remappings=commands,
        condition=IfCondition(LaunchConfiguration('watchdog')),
    )
    # An effort controller applies nothing until its first command, and keeps the last one for
    # ever. So the drives and brakes hold the arm until the node carries the whole weight and the
    # watchdog watches: the controller is loaded inactive, and activated only then. Without a node
    # (controller:=none) it stays inactive.
    broadcaster = launching.spawner(
        'joint_state_broadcaster',
        manager=manager,
        condition=IfCondition(EqualsSubstitution(LaunchConfiguration('spawn'), 'all')),
    )
    loaded = launching.spawner(effort_controller, '--inactive', manager=manager)
    loaded_alone = launching.spawner(
        effort_controller,
        '--inactive',
        manager=manager,
        condition=IfCondition(
            EqualsSubstitution(LaunchConfiguration('spawn'), 'effort_controller')
        ),
    )
    activated = launching.spawner(
        effort_controller,
        manager=manager,
        condition=IfCondition(NotEqualsSubstitution(LaunchConfiguration('spawn'), 'none')),
    )
    carrying = launching.waiter_until_carrying(LaunchConfiguration('watchdog'))
    return LaunchDescription(
        [
            *arguments(),
            launching.robot_state_publisher(
                ' hardware_plugin:=',
                LaunchConfiguration('hardware_plugin'),
                ' ',
                LaunchConfiguration('xacro_args'),
            ),
            Node(
                package='controller_manager',
                executable='ros2_control_node',
                namespace=LaunchConfiguration('namespace'),
                parameters=[LaunchConfiguration('controllers_file')],
                # The name of the topic in older releases.
                remappings=[('~/robot_description', 'robot_description')],
                condition=IfCondition(LaunchConfiguration('start_controller_manager')),
                output='both',
            ),
            *launching.in_order(broadcaster, loaded),
            *launching.in_order(loaded_alone),
            controller,
            watchdog,
            launching.needed_until_handover(watchdog),
            *launching.hand_over(carrying, [activated]),
            launching.after_success(activated, []),
            launching.rviz_node(),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.carried_by_hardware(),
        launching.stale_state_policy(),
        launching.controller('gravity_compensation'),
        launching.watchdog(),
        launching.description_file(),
        DeclareLaunchArgument(
            'hardware_plugin',
            default_value='mock_components/GenericSystem',
            description='Plugin of the drives, for a description that takes hardware_plugin.',
        ),
        DeclareLaunchArgument(
            'xacro_args',
            default_value='',
            description='Other arguments of the description, each as name:=value.',
        ),
        launching.config_dir(),
        launching.controllers_file(),
        launching.yes_or_no(
            'start_controller_manager',
            'true',
            'Whether ros2_control_node is started; false if a driver brings a controller manager.',
        ),
        DeclareLaunchArgument(
            'controller_manager',
            default_value='controller_manager',
            description='Name of the controller manager, relative to the namespace.',
        ),
        DeclareLaunchArgument(
            'spawn',
            default_value='all',
            choices=['all', 'effort_controller', 'none'],
            description='Which controllers are loaded: joint_state_broadcaster and the effort '
            'controller, only that one, or none because the driver loads them.',
        ),
        DeclareLaunchArgument(
            'effort_controller',
            default_value='effort_controller',
            description='Name of the effort controller in controllers_file.',
        ),
        launching.handover_delay(),
        launching.autostart(),
        launching.namespace(),
        launching.rviz(),
        launching.log_level(),
    ]

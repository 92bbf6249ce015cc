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
Replay a recorded bag into a controller node, which computes torques that reach no robot.

Only the joint states and the reference are played, into a namespace of their own, and the command
goes to a private topic of the node. The torques are on ``~/torques`` and ``~/torques/TERM``::

    ros2 launch robot_dynamics_ros bag.launch.py bag:=PATH

"""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    RegisterEventHandler,
    Shutdown,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    controller = launching.controller_node(
        {
            'autostart': True,
            'use_sim_time': launching.as_bool('clock'),
            'robot_description_file': launching.as_text(LaunchConfiguration('description_file')),
            'gravity_compensated_by_hardware': launching.as_bool(
                'gravity_compensated_by_hardware'
            ),
            # The record may begin in the middle of a motion, and nothing can be hurt here: the
            # whole torque from the first state on, wherever the robot is and however fast.
            'ramp_up_time': 0.0,
            'arming_speed': 100.0,
            'position_margin': 3.0,
            'velocity_limit_factor': 100.0,
        },
        # Whatever the namespace is, no controller listens there.
        remappings=[(launching.COMMAND_TOPIC, '~/commands')],
    )
    clock = LaunchConfiguration('clock')
    players = [
        ExecuteProcess(
            cmd=[*play_command(), *options], name='player', condition=condition, output='both'
        )
        for options, condition in (
            ([], UnlessCondition(clock)),
            (['--clock', '100'], IfCondition(clock)),
        )
    ]
    # The node hears joint states once it is configured, which takes minutes on its first start.
    configured = launching.waiter('inactive')
    return LaunchDescription(
        [
            *arguments(),
            controller,
            configured,
            launching.after_success(configured, players),
            *(
                RegisterEventHandler(
                    OnProcessExit(
                        target_action=player, on_exit=[Shutdown(reason='the bag has ended')]
                    )
                )
                for player in players
            ),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        DeclareLaunchArgument('bag', description='Folder or file of the bag.'),
        DeclareLaunchArgument(
            'controller',
            default_value='inverse_dynamics',
            choices=['gravity_compensation', 'inverse_dynamics'],
            description='Node that computes the torques.',
        ),
        launching.description_file(),
        launching.config_dir(),
        launching.carried_by_hardware('false'),
        DeclareLaunchArgument(
            'joint_states_topic',
            default_value='/joint_states',
            description='Topic of the joint states in the bag.',
        ),
        DeclareLaunchArgument(
            'reference_topic',
            default_value='/inverse_dynamics_node/reference',
            description='Topic of the reference in the bag, if it has one.',
        ),
        DeclareLaunchArgument(
            'rate',
            default_value='1.0',
            description='Speed of the replay; 1 is that of the record.',
        ),
        launching.yes_or_no(
            'clock', 'false', 'Whether the player publishes /clock and the node takes it.'
        ),
        DeclareLaunchArgument(
            'namespace',
            default_value='replay',
            description='Namespace of the node and of the topics that are played, without a slash '
            'in front.',
        ),
        launching.log_level(),
    ]


def play_command() -> list[str | LaunchConfiguration | list[str | LaunchConfiguration]]:
    """Return the command that plays the two topics into the namespace."""
    states, reference = (
        LaunchConfiguration('joint_states_topic'),
        LaunchConfiguration('reference_topic'),
    )
    space = LaunchConfiguration('namespace')
    return [
        'ros2',
        'bag',
        'play',
        LaunchConfiguration('bag'),
        '--disable-keyboard-controls',
        '--rate',
        LaunchConfiguration('rate'),
        '--topics',
        states,
        reference,
        '--remap',
        [states, ':=/', space, '/joint_states'],
        [reference, ':=/', space, '/inverse_dynamics_node/reference'],
    ]

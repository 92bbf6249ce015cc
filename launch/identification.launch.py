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
Keep the model of a running robot up to date, and watch what touches it.

Starts identification_node, and as asked for external_torque_node and monitor_node. None of them
commands anything. Control nodes take the estimates only if their parameters say so::

    ros2 launch robot_dynamics_ros identification.launch.py offline_report:=RESULTS/report.json

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    robot = {
        'robot_description_file': launching.as_text(LaunchConfiguration('description_file')),
        'autostart': launching.as_bool('autostart'),
        'use_sim_time': launching.as_bool('use_sim_time'),
    }
    return LaunchDescription(
        [
            *arguments(),
            launching.chosen_node(
                'identification_node',
                robot,
                given=['offline_report', 'state_file', 'output_directory'],
                # What touches the arm is not learnt.
                remappings=[('~/contact', 'external_torque_node/contact')],
            ),
            launching.chosen_node(
                'external_torque_node',
                robot,
                given=['thresholds_file'],
                # What the arm carries does not touch it.
                said={'estimates': {'payload_source': 'online', 'friction_source': 'online'}},
                condition=IfCondition(LaunchConfiguration('external_torque')),
                remappings=launching.ESTIMATES,
            ),
            launching.robot_node(
                'monitor_node', robot, condition=IfCondition(LaunchConfiguration('monitor'))
            ),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.description_file(),
        launching.config_dir(),
        DeclareLaunchArgument(
            'offline_report',
            default_value='',
            description='report.json of robot_dynamics identify, to begin from; empty for what '
            "the node's file says.",
        ),
        DeclareLaunchArgument(
            'state_file',
            default_value='',
            description='File in which what was learnt is kept over restarts; empty for what '
            "the node's file says.",
        ),
        DeclareLaunchArgument(
            'output_directory',
            default_value='',
            description='Where ~/save of identification_node writes; empty for what the '
            "node's file says.",
        ),
        launching.thresholds_file(),
        launching.yes_or_no(
            'external_torque', 'true', 'Whether external_torque_node looks for contacts.'
        ),
        launching.yes_or_no(
            'estimates',
            'true',
            'Whether external_torque_node takes payload and friction of identification_node; it '
            'needs a friction_file in its own file then.',
        ),
        launching.yes_or_no(
            'monitor', 'false', 'Whether monitor_node compares the model with Pinocchio.'
        ),
        launching.autostart(),
        launching.use_sim_time(),
        launching.namespace(),
        launching.log_level(),
    ]

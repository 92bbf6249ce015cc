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
that takes effort_controller/commands. Say who carries the robot's weight, and what becomes of the
torque when states stop::

    ros2 launch robot_dynamics_ros inverse_dynamics.launch.py \
        gravity_compensated_by_hardware:=false stale_state_policy:=hold_gravity

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    names = ('autostart', 'use_sim_time', 'gravity_compensated_by_hardware')
    description_file = launching.as_text(LaunchConfiguration('description_file'))
    return LaunchDescription(
        [
            *arguments(),
            launching.robot_node(
                'inverse_dynamics_node',
                {
                    **{name: launching.as_bool(name) for name in names},
                    'robot_description_file': description_file,
                    'stale_state_policy': LaunchConfiguration('stale_state_policy'),
                },
                config=LaunchConfiguration('params_file'),
                remappings=[(launching.COMMAND_TOPIC, LaunchConfiguration('command_topic'))],
            ),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.carried_by_hardware(),
        launching.stale_state_policy(),
        DeclareLaunchArgument(
            'description_file',
            default_value='',
            description='URDF or xacro file; empty to take the topic robot_description.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=launching.installed('config', 'inverse_dynamics_node.yaml'),
            description='Parameters of the node.',
        ),
        DeclareLaunchArgument(
            'command_topic',
            default_value=launching.COMMAND_TOPIC,
            description='Topic of the effort controller, relative to the namespace.',
        ),
        launching.namespace(),
        launching.autostart(),
        launching.use_sim_time(),
        launching.log_level(),
    ]

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
Watch an arm for contacts beside whatever moves it; nothing is commanded.

External torques, the wrench at a frame and contacts come from the joint states that are there::

    ros2 launch robot_dynamics_ros external_torque.launch.py config_dir:=PATH

"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

from robot_dynamics_ros import launching


def generate_launch_description() -> LaunchDescription:
    """Return what `ros2 launch` starts."""
    node = launching.chosen_node(
        'external_torque_node',
        {
            'autostart': launching.as_bool('autostart'),
            'use_sim_time': launching.as_bool('use_sim_time'),
            'robot_description_file': launching.as_text(LaunchConfiguration('description_file')),
        },
        given=['thresholds_file'],
        # Taken if its parameters say so.
        remappings=launching.ESTIMATES,
    )
    return LaunchDescription([*arguments(), node])


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.description_file(),
        launching.config_dir(),
        launching.thresholds_file(),
        launching.namespace(),
        launching.use_sim_time(),
        launching.autostart(),
        launching.log_level(),
    ]

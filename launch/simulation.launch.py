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
            # The brakes of the simulated arm hold it until the controller has ramped up.
            launching.robot_node('forward_simulation_node', robot),
            # It carries no weight by itself, so the controller has to.
            launching.controller_node({**robot, 'gravity_compensated_by_hardware': False}),
            launching.robot_state_publisher(
                use_sim_time=robot['use_sim_time'],
                condition=IfCondition(LaunchConfiguration('robot_state_publisher')),
            ),
            launching.rviz_node(robot['use_sim_time']),
        ]
    )


def arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        launching.controller('inverse_dynamics'),
        launching.description_file(),
        launching.config_dir(),
        launching.yes_or_no(
            'robot_state_publisher',
            'true',
            'Whether robot_state_publisher runs (robot_description and tf).',
        ),
        launching.autostart(),
        launching.use_sim_time(),
        launching.namespace(),
        launching.rviz(),
        launching.log_level(),
    ]

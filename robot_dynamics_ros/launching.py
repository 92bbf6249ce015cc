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
What the launch files of the package have in common: arguments, nodes, and what waits for what.

Only launch files import this; it needs ROS 2's launch.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from launch import Action, Event, LaunchContext, Substitution
from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import (
    Command,
    IfElseSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'robot_dynamics_ros'
COMMAND_TOPIC = 'effort_controller/commands'
WATCHDOG = 'effort_watchdog_node'
ESTIMATES = tuple((f'~/{name}', f'identification_node/{name}') for name in ('friction', 'payload'))
"""Where the nodes that command find the estimates that their parameters may let them take."""
_HANDED_OVER = 'is_handed_over'

Text = str | Substitution | Sequence[str | Substitution]


def installed(*parts: str) -> PathJoinSubstitution:
    """Return the path of a file or folder that comes with the package."""
    return PathJoinSubstitution([FindPackageShare(PACKAGE), *parts])


def yes_or_no(name: str, default: str | None, description: str) -> DeclareLaunchArgument:
    """Return an argument that is true or false; without default it has to be said."""
    return DeclareLaunchArgument(
        name, default_value=default, choices=['true', 'false'], description=description
    )


def as_bool(name: str) -> ParameterValue:
    """Return the argument `name` as a parameter of type bool."""
    return ParameterValue(LaunchConfiguration(name), value_type=bool)


def as_text(value: Text) -> ParameterValue:
    """Return a parameter of type string, whatever the text looks like."""
    return ParameterValue(value, value_type=str)


# Arguments. Each launch file names those that it takes.


def namespace() -> DeclareLaunchArgument:
    """Return the namespace of all nodes."""
    return DeclareLaunchArgument(
        'namespace', default_value='', description='Namespace of all nodes, one for each arm.'
    )


def log_level() -> DeclareLaunchArgument:
    """Return how much the nodes say."""
    return DeclareLaunchArgument(
        'log_level',
        default_value='info',
        choices=['debug', 'info', 'warn', 'error', 'fatal'],
        description="Log level of this package's nodes.",
    )


def autostart() -> DeclareLaunchArgument:
    """Return whether the nodes go to the active state by themselves."""
    return yes_or_no('autostart', 'true', 'Whether the nodes configure and activate themselves.')


def use_sim_time() -> DeclareLaunchArgument:
    """Return where the time comes from."""
    return yes_or_no('use_sim_time', 'false', 'Whether the nodes take the time from /clock.')


def controller(default: str) -> DeclareLaunchArgument:
    """Return which node commands the torques."""
    return DeclareLaunchArgument(
        'controller',
        default_value=default,
        choices=['gravity_compensation', 'inverse_dynamics', 'none'],
        description='Node that commands the torques.',
    )


def description_file() -> DeclareLaunchArgument:
    """Return which robot it is."""
    return DeclareLaunchArgument(
        'description_file',
        default_value=installed('urdf', 'es5.urdf.xacro'),
        description='URDF or xacro file of the robot.',
    )


def config_dir() -> DeclareLaunchArgument:
    """Return where the parameters of the nodes are."""
    return DeclareLaunchArgument(
        'config_dir',
        default_value=installed('config'),
        description='Folder with the parameter file of each node, named like the node; the joints '
        'and their order stand there.',
    )


def controllers_file() -> DeclareLaunchArgument:
    """Return what the controller manager runs."""
    return DeclareLaunchArgument(
        'controllers_file',
        default_value=installed('config', 'es5_controllers.yaml'),
        description='Parameters of controller_manager, joint_state_broadcaster and the effort '
        'controller. Its joints are those of the nodes, in the same order.',
    )


def handover_delay() -> DeclareLaunchArgument:
    """Return how long the controller node has to carry the arm before it gets it."""
    return DeclareLaunchArgument(
        'handover_delay',
        default_value='0.5',
        description='Time that the whole torque of the controller node has to be on, without a '
        'break, until it reaches the arm [s].',
    )


def watchdog() -> DeclareLaunchArgument:
    """Return whether somebody stands by for the controller node."""
    return yes_or_no(
        'watchdog',
        'true',
        'Whether effort_watchdog_node brings the torque down if the controller node dies.',
    )


def stale_state_policy() -> DeclareLaunchArgument:
    """Return what to do with an arm without states; for a real one there is no default."""
    return DeclareLaunchArgument(
        'stale_state_policy',
        choices=['ramp_down', 'hold_gravity'],
        description='What becomes of the torque when states or commands stop: to zero at once '
        'or the last gravity torque for grace_time first. An arm without brakes falls at zero '
        'torque; so there is no default.',
    )


def thresholds_file() -> DeclareLaunchArgument:
    """Return where the thresholds for contacts are kept."""
    return DeclareLaunchArgument(
        'thresholds_file',
        default_value='',
        description='YAML file of the thresholds for contacts, which ~/learn of '
        "external_torque_node writes; empty for what the node's file says.",
    )


def rviz() -> DeclareLaunchArgument:
    """Return whether the robot is shown."""
    return yes_or_no('rviz', 'false', 'Whether RViz shows the robot.')


def carried_by_hardware(default: str | None = None) -> DeclareLaunchArgument:
    """Return who carries the arm; for a real one there is no default."""
    return yes_or_no(
        'gravity_compensated_by_hardware',
        default,
        'Whether the robot itself carries its weight. If both the robot and the controller node '
        'do, or neither, the arm moves away'
        + ('; so there is no default.' if default is None else '.'),
    )


# Nodes.


def robot_node(
    executable: Text,
    parameters: Mapping[str, Any],
    *,
    config: Text | None = None,
    overrides: Text | None = None,
    condition: IfCondition | None = None,
    remappings: Sequence[tuple[Text, Text]] = (),
) -> LifecycleNode:
    """
    Return one of this package's nodes.

    Its parameters are those of the file `config` (by default the one in `config_dir`), changed by
    the file in the folder `overrides`, changed by `parameters`.

    """
    name = [executable] if isinstance(executable, str) else list(executable)
    files = [config or [LaunchConfiguration('config_dir'), '/', *name, '.yaml']]
    if overrides is not None:
        files.append([overrides, '/', *name, '.yaml'])
    return LifecycleNode(
        package=PACKAGE,
        executable=executable,
        name=executable,
        namespace=LaunchConfiguration('namespace'),
        parameters=[*files, dict(parameters)],
        remappings=list(remappings),
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        condition=condition,
        output='both',
    )


def chosen_node(
    executable: str,
    parameters: Mapping[str, Any],
    *,
    given: Sequence[str],
    said: Mapping[str, Mapping[str, Any]] | None = None,
    condition: IfCondition | None = None,
    remappings: Sequence[tuple[Text, Text]] = (),
) -> OpaqueFunction:
    """
    Return one of this package's nodes, with parameters that the user may leave to its file.

    Arguments named in `given` are texts for the parameters of the same name, unless they are
    empty. `said` has more parameters for arguments that are true.

    """

    def start(context: LaunchContext) -> list[Action]:
        values = context.launch_configurations
        chosen = {name: as_text(LaunchConfiguration(name)) for name in given if values.get(name)}
        for name, more in (said or {}).items():
            if values.get(name) == 'true':
                chosen.update(more)
        return [
            robot_node(
                executable,
                {**parameters, **chosen},
                condition=condition,
                remappings=remappings,
            )
        ]

    return OpaqueFunction(function=start)


def controller_node(
    parameters: Mapping[str, Any],
    *,
    overrides: Text | None = None,
    remappings: Sequence[tuple[Text, Text]] = (),
) -> LifecycleNode:
    """
    Return the node that the argument `controller` names.

    Whether it takes the estimates of identification_node is said by its own parameters.

    """
    chosen = LaunchConfiguration('controller')
    return robot_node(
        [chosen, '_node'],
        parameters,
        overrides=overrides,
        condition=IfCondition(NotEqualsSubstitution(chosen, 'none')),
        remappings=[*ESTIMATES, *remappings],
    )


def robot_state_publisher(
    *xacro_arguments: str | Substitution,
    use_sim_time: ParameterValue | bool = False,
    condition: IfCondition | None = None,
) -> Node:
    """Return the node that publishes `description_file`, expanded, and the frames."""
    command = ["xacro '", LaunchConfiguration('description_file'), "'", *xacro_arguments]
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            {'robot_description': as_text(Command(command)), 'use_sim_time': use_sim_time}
        ],
        condition=condition,
        output='both',
    )


def rviz_node(use_sim_time: ParameterValue | bool = False) -> Node:
    """Return RViz, if the argument `rviz` says so."""
    return Node(
        package='rviz2',
        executable='rviz2',
        namespace=LaunchConfiguration('namespace'),
        arguments=['-d', installed('config', 'robot.rviz')],
        parameters=[{'use_sim_time': use_sim_time}],
        condition=IfCondition(LaunchConfiguration('rviz')),
        output='log',
    )


def spawner(
    name: Text,
    *options: str,
    manager: Text = 'controller_manager',
    condition: IfCondition | None = None,
) -> Node:
    """Return what loads, configures and (without ``--inactive``) activates a controller."""
    return Node(
        package='controller_manager',
        executable='spawner',
        namespace=LaunchConfiguration('namespace'),
        arguments=[
            name,
            '--controller-manager',
            manager,
            '--controller-manager-timeout',
            '120',
            '--param-file',
            LaunchConfiguration('controllers_file'),
            *options,
        ],
        condition=condition,
        output='both',
    )


def waiter(state: str, *options: Text) -> Node:
    """Return what ends when the controller node has come into a state; see `wait_for_state`."""
    chosen = LaunchConfiguration('controller')
    return Node(
        package=PACKAGE,
        executable='wait_for_state',
        namespace=LaunchConfiguration('namespace'),
        arguments=[[chosen, '_node'], state, *options],
        condition=IfCondition(NotEqualsSubstitution(chosen, 'none')),
        output='both',
    )


def waiter_until_carrying(watched: Text) -> Node:
    """
    Return what ends when the torque of the controller node has ramped up.

    Where `watched` is ``true`` the watchdog has to be active, too.

    """
    return waiter(
        'carrying',
        '--for',
        LaunchConfiguration('handover_delay'),
        '--beside',
        IfElseSubstitution(watched, WATCHDOG, ''),
    )


# What waits for what.


def after_success(program: Action, then: Sequence[Action]) -> RegisterEventHandler:
    """Go on when a program has ended well; shut everything down when it has not."""

    def on_exit(event: Event, context: LaunchContext) -> Sequence[Action]:
        if event.returncode == 0:
            return then
        if context.is_shutdown:
            return []
        return [Shutdown(reason=f'{event.process_name} failed')]

    return RegisterEventHandler(OnProcessExit(target_action=program, on_exit=on_exit))


def hand_over(carrying: Node, then: Sequence[Action]) -> list[Action]:
    """Start what waits for `carrying`, the program that ends when the arm is carried."""
    handed_over = SetLaunchConfiguration(_HANDED_OVER, 'true')
    return [carrying, after_success(carrying, [handed_over, *then])]


def needed_until_handover(program: Action) -> RegisterEventHandler:
    """Shut everything down if a program ends while others still hold the arm."""

    def on_exit(event: Event, context: LaunchContext) -> Sequence[Action]:
        if context.is_shutdown or _HANDED_OVER in context.launch_configurations:
            return []
        return [Shutdown(reason=f'{event.process_name} has ended before the arm was handed over')]

    return RegisterEventHandler(OnProcessExit(target_action=program, on_exit=on_exit))


def in_order(*programs: Node) -> list[Action]:
    """Return the first program, and handlers that start each other one after the one before."""
    chain = [after_success(before, [after]) for before, after in zip(programs, programs[1:])]
    return [programs[0], *chain, after_success(programs[-1], [])]

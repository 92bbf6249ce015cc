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

"""Parameters that say which robot a node works on."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.ros.parameters import parameter

FRICTION_SOURCES = ('none', 'urdf', 'file')
PAYLOAD_SOURCES = ('parameters', 'topic', 'online')
STALE_STATE_POLICIES = ('ramp_down', 'hold_gravity')
_FLOOR = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class RobotParameters:
    """Which robot, how it is mounted, what it carries and which of its joints move."""

    autostart: bool = parameter(
        'Whether the node configures and activates itself as soon as it can.',
        False,
        read_only=True,
    )
    robot_description_file: str = parameter(
        'URDF or xacro file; empty to take the topic robot_description.', ''
    )
    xacro_args: tuple[str, ...] = parameter(
        "Arguments for a xacro file, each as 'name:=value'.", ()
    )
    strict_urdf: bool = parameter(
        'Whether a description without joint limits is refused instead of read as unlimited.', True
    )
    joints: tuple[str, ...] = parameter(
        'The moving joints, in the order of commands; empty for all, in model order.',
        (),
    )
    locked_joints: tuple[str, ...] = parameter(
        'Joints that the model holds still, such as the fingers of a gripper.', ()
    )
    locked_positions: tuple[float, ...] = parameter(
        'Where they are held, in the order of locked_joints.', (), unit='rad | m'
    )
    gravity: tuple[float, ...] = parameter(
        "Gravity, expressed in the robot's base frame.", _FLOOR, unit='m/s^2', size=3
    )
    base_roll: float = parameter(
        'Roll of the base in a level frame, instead of gravity.', 0.0, unit='rad', low=-pi, high=pi
    )
    base_pitch: float = parameter(
        'Pitch of the base in a level frame, instead of gravity.',
        0.0,
        unit='rad',
        low=-pi,
        high=pi,
    )
    armature: tuple[float, ...] = parameter(
        'Reflected inertia of the rotors, in the order of joints; empty for none.',
        (),
        unit='kg m^2 | kg',
        low=0.0,
    )
    payload_mass: float = parameter(
        'Mass of the payload; 0 for none.',
        0.0,
        unit='kg',
        low=0.0,
        high=1e5,
        is_live=True,
        name='payload.mass',
    )
    payload_frame: str = parameter(
        'Link that holds the payload.', '', is_live=True, name='payload.frame'
    )
    payload_com: tuple[float, ...] = parameter(
        'Centre of mass of the payload, expressed in its frame.',
        (0.0, 0.0, 0.0),
        unit='m',
        size=3,
        is_live=True,
        name='payload.com',
    )
    payload_inertia: tuple[float, ...] = parameter(
        'Inertia ixx, ixy, ixz, iyy, iyz, izz about its centre of mass, in axes of its frame.',
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        unit='kg m^2',
        size=6,
        is_live=True,
        name='payload.inertia',
    )
    crosscheck: bool = parameter(
        'Whether the model is compared with Pinocchio when the node configures.', True
    )
    crosscheck_samples: int = parameter(
        'Number of random states for that comparison.', 5, low=1, high=10000
    )

    def __post_init__(self) -> None:
        if len(self.locked_joints) != len(self.locked_positions):
            raise ConfigurationError(
                f'locked_positions has {len(self.locked_positions)} entries, '
                f'expected {len(self.locked_joints)} as in locked_joints'
            )
        for name in ('joints', 'locked_joints'):
            names = getattr(self, name)
            if len(set(names)) != len(names):
                raise ConfigurationError(f'{name} holds a name twice: {", ".join(names)}')
        both = set(self.joints) & set(self.locked_joints)
        if both:
            raise ConfigurationError(f'both in joints and in locked_joints: {", ".join(both)}')
        if (self.base_roll or self.base_pitch) and self.gravity != _FLOOR:
            raise ConfigurationError('give either gravity, or base_roll and base_pitch')
        if self.payload_mass > 0.0 and not self.payload_frame:
            raise ConfigurationError('payload.mass needs payload.frame, the link that holds it')
        self.require_sizes('armature')
        for argument in self.xacro_args:
            if ':=' not in argument:
                raise ConfigurationError(
                    f"xacro_args: '{argument}' is not of the form name:=value"
                )

    def require_sizes(self, *names: str) -> None:
        """
        Refuse arrays that have neither no entry nor one for each of `joints`.

        Raises
        ------
        ConfigurationError
            If an array has another size.

        """
        for name in names:
            size = len(getattr(self, name))
            if self.joints and size not in (0, len(self.joints)):
                raise ConfigurationError(
                    f'{name} has {size} entries, expected {len(self.joints)} as in joints'
                )


@dataclass(frozen=True)
class MotorParameters(RobotParameters):
    """What measured currents stand for."""

    torque_constants: tuple[float, ...] = parameter(
        'Torque of each motor over its current, for effort_semantics current, in the order of '
        'joints.',
        (),
        unit='N m/A',
        low=1e-9,
    )
    gear_ratios: tuple[float, ...] = parameter(
        'Speed of each motor over that of its joint, for effort_semantics current, in the order '
        'of joints; empty for 1.',
        (),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_sizes('torque_constants', 'gear_ratios')


@dataclass(frozen=True)
class SignedEffortParameters(MotorParameters):
    """What measured efforts stand for, where they are compared with the model."""

    effort_signs: tuple[float, ...] = parameter(
        'Factor 1 or -1 on the effort of each joint, in the order of joints; empty for 1.',
        (),
        low=-1.0,
        high=1.0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_sizes('effort_signs')


@dataclass(frozen=True)
class TorqueParameters(MotorParameters):
    """What the nodes that command torque have in common."""

    gravity_compensated_by_hardware: bool = parameter(
        'Whether the robot itself adds the torque against gravity. There is no default: '
        'if both add it, or neither, the arm moves away. Say true or false.'
    )
    friction_source: str = parameter(
        'Where the friction in the command comes from.', 'none', choices=FRICTION_SOURCES
    )
    friction_file: str = parameter('YAML file of joint friction, for friction_source file.', '')
    effort_limits: tuple[float, ...] = parameter(
        'Largest effort, in the order of joints; empty to take those of the description.',
        (),
        unit='N m | N',
        low=1e-6,
    )
    effort_rate_limits: tuple[float, ...] = parameter(
        'Largest change of effort per second, in the order of joints; empty for 10 times the '
        'limits.',
        (),
        unit='N m/s | N/s',
        low=1e-6,
    )
    ramp_up_time: float = parameter(
        'Duration of the ramp after activation.', 1.0, unit='s', low=0.0, high=60.0
    )
    ramp_down_time: float = parameter(
        'Duration of the ramp to zero on deactivation, signals and faults.',
        0.5,
        unit='s',
        low=0.0,
        high=3.0,
    )
    ramp_from: str = parameter(
        'Where the ramp after activation begins while nobody commands a torque; else it begins at '
        'the command. measured_effort needs effort_semantics.',
        'zero',
        choices=('zero', 'measured_effort'),
    )
    effort_semantics: str = parameter(
        'What the effort of the joint states is: torque, current of the motor, or torque without '
        'what carries the weight. Needed where it is used.',
        'unstated',
        choices=('unstated', 'torque', 'current', 'gravity_compensated'),
    )
    state_timeout: float = parameter(
        'Age of the joint states beyond which the torque is ramped down, on a steady clock.',
        0.1,
        unit='s',
        low=0.005,
        high=5.0,
    )
    stale_state_policy: str = parameter(
        'What happens when the joint states fail to come. ramp_down: the torque goes to zero at '
        'once, and an arm without brakes falls. hold_gravity: the last gravity torque is kept for '
        'grace_time before that, and the arm drifts. There is no default: it depends on the arm.',
        choices=STALE_STATE_POLICIES,
    )
    grace_time: float = parameter(
        'How long hold_gravity keeps the gravity torque.', 2.0, unit='s', low=0.0, high=600.0
    )
    recover_from_stale_state: bool = parameter(
        'Whether states that come back while the torque still ramps down ramp it up again.', False
    )
    velocity_source: str = parameter(
        'Velocity of the messages where they have one, or always estimated from positions.',
        'measured',
        choices=('measured', 'estimated'),
    )
    velocity_time_constant: float = parameter(
        'Time constant of the low-pass filter on estimated velocities; 0 for none.',
        0.0,
        unit='s',
        low=0.0,
        high=1.0,
    )
    position_margin: float = parameter(
        'Way beyond a position limit of the description at which the torque is ramped down; below '
        'zero, the way before it.',
        0.05,
        unit='rad | m',
        low=-3.0,
        high=3.0,
    )
    velocity_limit_factor: float = parameter(
        'Measured speed over the velocity limit of the description at which the torque is ramped '
        'down.',
        1.5,
        low=0.01,
        high=100.0,
    )
    arming_speed: float = parameter(
        'Largest speed of a joint with which the torque may be switched on.',
        0.5,
        unit='rad/s | m/s',
        low=0.001,
        high=100.0,
    )
    glide_time: float = parameter(
        'Duration of the passage to the new torque after payload, scale or gains have changed.',
        1.0,
        unit='s',
        low=0.0,
        high=60.0,
    )
    deadline: float = parameter(
        'Time from a joint state to its command beyond which a cycle is counted as late.',
        0.001,
        unit='s',
        low=1e-5,
        high=1.0,
    )
    realtime_priority: int = parameter(
        'Priority of the process under SCHED_FIFO; 0 for none.',
        0,
        low=0,
        high=99,
        name='realtime.priority',
    )
    realtime_cpus: tuple[int, ...] = parameter(
        'Processors that the process runs on; empty for all.', (), low=0, name='realtime.cpus'
    )
    realtime_lock_memory: bool = parameter(
        'Whether memory is kept from being swapped out.', False, name='realtime.lock_memory'
    )
    max_joint_speed: tuple[float, ...] = parameter(
        'Speed beyond which a step in position is taken for a fault of the message, in the '
        'order of joints; empty for no check.',
        (),
        unit='rad/s | m/s',
        low=1e-6,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_sizes(
            'effort_limits',
            'effort_rate_limits',
            'max_joint_speed',
        )
        if self.ramp_from == 'measured_effort' and self.effort_semantics == 'unstated':
            raise ConfigurationError(
                'ramp_from measured_effort needs effort_semantics: torque, current or '
                'gravity_compensated'
            )
        check_friction_source(self.friction_source, self.friction_file)


@dataclass(frozen=True)
class UpdatedParameters(RobotParameters):
    """How the model of a node may change while it runs."""

    payload_source: str = parameter(
        'Where the payload comes from: payload.* alone; or also the last message on ~/payload; '
        'or, online, that message as long as it is repeated.',
        'parameters',
        choices=PAYLOAD_SOURCES,
    )
    payload_limit: float = parameter(
        'Largest mass that a message on ~/payload may state; 0 for what the drives can hold.',
        0.0,
        unit='kg',
        low=0.0,
    )
    estimate_timeout: float = parameter(
        'Age of the last estimate on ~/friction or ~/payload beyond which a source that is online '
        'goes back to the file or the parameters.',
        5.0,
        unit='s',
        low=0.1,
        high=600.0,
    )
    estimate_deviation: float = parameter(
        'Largest standard deviation of a friction estimate that is taken, relative to the value '
        'in friction_file.',
        0.1,
        low=1e-6,
        high=1.0,
    )
    estimate_factor: float = parameter(
        'Largest friction estimate that is taken, relative to the value in friction_file.',
        2.0,
        low=1.0,
        high=10.0,
    )


@dataclass(frozen=True)
class CommandParameters(TorqueParameters, UpdatedParameters):
    """What the nodes that make the command have in common."""

    friction_source: str = parameter(
        'Where the friction in the command comes from; online: friction_file, and within bounds '
        'the estimates on ~/friction.',
        'none',
        choices=(*FRICTION_SOURCES, 'online'),
    )


def check_friction_source(source: str, file: str) -> None:
    """
    Refuse a friction file that is missing or would not be used.

    Raises
    ------
    ConfigurationError
        If `source` and `file` do not fit together.

    """
    needs_file = source in ('file', 'online')
    if needs_file != bool(file):
        raise ConfigurationError(
            f'friction_source {source} needs friction_file'
            if needs_file
            else f'friction_file is given, but friction_source is {source}'
        )

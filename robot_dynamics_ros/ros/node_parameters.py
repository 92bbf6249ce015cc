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

"""The parameters of each node."""

from __future__ import annotations

from dataclasses import dataclass

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_values import FRICTION_LAWS
from robot_dynamics_ros.ros.parameters import parameter
from robot_dynamics_ros.ros.robot_parameters import (
    check_friction_source,
    CommandParameters,
    FRICTION_SOURCES,
    RobotParameters,
    SignedEffortParameters,
    TorqueParameters,
    UpdatedParameters,
)

CONTROL_MODES = ('feedforward', 'pd_feedforward', 'computed_torque', 'pd', 'pd_gravity')


@dataclass(frozen=True)
class InverseDynamicsParameters(CommandParameters):
    """Parameters of `inverse_dynamics_node`."""

    mode: str = parameter('Control law.', 'pd_feedforward', choices=CONTROL_MODES)
    kp: tuple[float, ...] = parameter(
        'Gains on the position error, in the order of joints, or one for all; in 1/s^2 for '
        'computed_torque.',
        (0.0,),
        unit='N m/rad | N/m',
        low=0.0,
        is_live=True,
    )
    kd: tuple[float, ...] = parameter(
        'Gains on the velocity error, in the order of joints, or one for all; in 1/s for '
        'computed_torque.',
        (0.0,),
        unit='N m s/rad | N s/m',
        low=0.0,
        is_live=True,
    )
    reference_jump: float = parameter(
        'Largest step of the reference that a new trajectory may make where it begins.',
        0.05,
        unit='rad | m',
        low=0.0,
        is_live=True,
    )
    reference_timeout: float = parameter(
        'Silence in a stream of single points after which the arm is held at the last one.',
        0.1,
        unit='s',
        low=0.001,
        high=10.0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ('kp', 'kd'):
            size = len(getattr(self, name))
            if size != 1 and self.joints and size != len(self.joints):
                raise ConfigurationError(
                    f'{name} has {size} entries, expected one or {len(self.joints)} as in joints'
                )


@dataclass(frozen=True)
class GravityCompensationParameters(CommandParameters):
    """Parameters of `gravity_compensation_node`."""

    scale: float = parameter(
        "Factor on the model's torque; begin with 0.1 on a new robot.",
        1.0,
        low=0.0,
        high=1.5,
        is_live=True,
    )
    coriolis: bool = parameter(
        'Whether Coriolis and centrifugal torques are added.', False, is_live=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gravity_compensated_by_hardware:
            raise ConfigurationError(
                'gravity_compensated_by_hardware is true: the robot already carries its own '
                'weight, and this node would add it a second time'
            )


@dataclass(frozen=True)
class ForwardSimulationParameters(RobotParameters):
    """Parameters of `forward_simulation_node`."""

    stepping: str = parameter(
        'Whether time runs by itself, or one step per command.',
        'real_time',
        choices=('real_time', 'lockstep'),
    )
    real_time_factor: float = parameter(
        'Simulated over real time, for stepping real_time.', 1.0, low=0.01, high=100.0
    )
    state_rate: float = parameter(
        'Joint states per simulated second; one over it is the step of lockstep.',
        500.0,
        unit='Hz',
        low=1.0,
        high=10000.0,
    )
    longest_step: float = parameter(
        'Longest step of the integrator.', 0.001, unit='s', low=1e-6, high=0.1
    )
    integrator: str = parameter(
        'Method of integration for free motion.', 'rk4', choices=('rk4', 'semi_implicit')
    )
    initial_positions: tuple[float, ...] = parameter(
        'Positions at the start, in the order of joints; empty for zeros.', (), unit='rad | m'
    )
    hold_until_command: bool = parameter(
        'Whether brakes hold the robot until the first command.', True
    )
    brake_release_delay: float = parameter(
        'Simulated time from the first command to the release of the brakes.',
        0.0,
        unit='s',
        low=0.0,
        high=60.0,
    )
    enforce_effort_limits: bool = parameter(
        'Whether the drives saturate at the effort limits of the description.', True
    )
    friction_source: str = parameter(
        "Where the robot's own friction comes from.", 'none', choices=FRICTION_SOURCES
    )
    friction_file: str = parameter('YAML file of joint friction, for friction_source file.', '')
    friction_model: str = parameter(
        'How joints stick: exactly, or on bristles that give way (lugre, dahl), which takes '
        'friction_source file.',
        'dry',
        choices=FRICTION_LAWS,
    )
    drives_file: str = parameter(
        'YAML file of the drives, for currents, voltages and their limits; empty for ideal ones. '
        'The inertia of their rotors is added.',
        '',
    )
    sensors_file: str = parameter(
        'YAML file of resolution, noise, delay and loss of the sensors; empty for ideal ones.', ''
    )
    sensors_seed: int = parameter('Seed of the noise.', 0, low=0, high=2**31 - 1)
    joint_stiffness: tuple[float, ...] = parameter(
        'Stiffness of elastic joints between motor and link, in the order of joints; empty for '
        'rigid ones. Their motors have the inertia of armature or drives_file and '
        'carry the friction.',
        (),
        unit='N m/rad | N/m',
        low=1e-3,
    )
    joint_damping: tuple[float, ...] = parameter(
        'Damping of the elastic joints, in the order of joints; empty for none.',
        (),
        unit='N m s/rad | N s/m',
        low=0.0,
    )
    position_limits: bool = parameter(
        'Whether the position limits of the description stop the joints.', True
    )
    world_file: str = parameter(
        'YAML file of what surrounds the robot; empty for nothing. With it the collision shapes '
        'of the description touch.',
        '',
    )
    self_collision: bool = parameter(
        'Whether links of the robot touch each other; those at the same joint never do.', False
    )
    disabled_pairs_file: str = parameter(
        'YAML or SRDF file of links, boxes and spheres that pass through each other; empty for '
        'none.',
        '',
    )
    contact_model: str = parameter(
        'Whether what touches is rigid, with restitution, or compliant, with stiffness.',
        'rigid',
        choices=('rigid', 'compliant'),
    )
    external_wrench_duration: float = parameter(
        'Simulated time that a message on ~/external_wrench acts.',
        0.1,
        unit='s',
        low=0.0,
        high=3600.0,
    )
    floating_base: bool = parameter('Whether the root link floats in the world.', False)
    initial_base_pose: tuple[float, ...] = parameter(
        'Pose of a floating base at the start: x, y, z and the quaternion x, y, z, w.',
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        unit='m, -',
        size=7,
    )
    publish_clock: bool = parameter(
        'Whether /clock is published and time begins at zero, instead of at the present time.',
        False,
    )
    frame_id: str = parameter('Frame in the header of the joint states.', 'base_link')

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_sizes('initial_positions')
        check_friction_source(self.friction_source, self.friction_file)
        if self.friction_model != 'dry':
            if self.friction_source != 'file':
                raise ConfigurationError(
                    f'friction_model {self.friction_model} needs friction_source file'
                )
        length = sum(x * x for x in self.initial_base_pose[3:]) ** 0.5
        if abs(length - 1.0) > 1e-3:
            raise ConfigurationError(
                f'the quaternion of initial_base_pose has length {length:.4g}, expected 1'
            )
        if self.joint_stiffness and not (self.armature or self.drives_file):
            raise ConfigurationError(
                'joint_stiffness needs the inertia of the motors: set armature or drives_file'
            )
        if self.joint_damping and not self.joint_stiffness:
            raise ConfigurationError('joint_damping is for elastic joints: set joint_stiffness')


@dataclass(frozen=True)
class TrajectoryAnnotatorParameters(RobotParameters):
    """Parameters of `trajectory_annotator_node`."""

    friction_source: str = parameter(
        'Where the friction in the efforts comes from.', 'none', choices=FRICTION_SOURCES
    )
    friction_file: str = parameter('YAML file of joint friction, for friction_source file.', '')
    gravity_compensated_by_hardware: bool = parameter(
        'Whether the robot itself adds the torque against gravity, which is then left out.', False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_friction_source(self.friction_source, self.friction_file)


@dataclass(frozen=True)
class ExternalTorqueParameters(SignedEffortParameters, UpdatedParameters):
    """Parameters of `external_torque_node`."""

    effort_semantics: str = parameter(
        'What the effort of the joint states is: torque with gravity, current of the motor, or '
        'torque without what carries the weight. There is no default.',
        choices=('torque', 'current', 'gravity_compensated'),
    )
    gravity_compensated_by_hardware: bool = parameter(
        'Whether the robot itself adds the torque against gravity. Its efforts then lack the '
        'weight, which effort_semantics gravity_compensated says.',
        False,
    )
    effort_delay: float = parameter(
        'How much older the effort of a message is than its positions; half a period more for '
        'efforts that are held over it.',
        0.0,
        unit='s',
        low=0.0,
        high=0.05,
    )
    friction_source: str = parameter(
        'Where the friction of the joints comes from; without it friction counts as an external '
        'torque. online: friction_file, and within bounds the estimates on ~/friction.',
        'none',
        choices=(*FRICTION_SOURCES, 'online'),
    )
    friction_file: str = parameter(
        'YAML file of joint friction, for friction_source file or online.', ''
    )
    glide_time: float = parameter(
        'Duration of the passage to another payload or other friction; it makes no contact.',
        1.0,
        unit='s',
        low=0.0,
        high=60.0,
    )
    rest_speed: float = parameter(
        'Speed up to which a joint may stick: a few times the noise of the velocities.',
        0.02,
        unit='rad/s | m/s',
        low=1e-6,
        high=1.0,
    )
    observer_gain: tuple[float, ...] = parameter(
        'Gain of the observer, in the order of joints, or one for all; its inverse is the time '
        'constant.',
        (30.0,),
        unit='1/s',
        low=0.1,
        high=1000.0,
    )
    longest_gap: float = parameter(
        'Time between two states beyond which the observer starts afresh.',
        0.05,
        unit='s',
        low=0.001,
        high=1.0,
    )
    state_timeout: float = parameter(
        'Age of the joint states beyond which they are reported as missing, on a steady clock.',
        0.2,
        unit='s',
        low=0.005,
        high=5.0,
    )
    frame: str = parameter('Link or joint frame of ~/wrench; empty for no wrench.', '')
    wrench_expressed_in: str = parameter(
        'Axes and origin of the wrench: those of frame, or those of the base.',
        'frame',
        choices=('frame', 'base'),
    )
    smallest_lever: float = parameter(
        'Lever, over which the joints feel a direction of the wrench, below which it is damped.',
        0.05,
        unit='m',
        low=1e-4,
        high=1.0,
    )
    thresholds_file: str = parameter(
        'YAML file of the thresholds for contacts; ~/learn writes it. Empty to keep what is '
        'learnt in memory only.',
        '',
    )
    overwrite_thresholds: bool = parameter(
        'Whether ~/learn may replace an existing thresholds_file.', False, is_live=True
    )
    threshold_margin: float = parameter(
        'Thresholds over the largest values while they are learnt.',
        1.3,
        low=1.0,
        high=100.0,
        is_live=True,
    )
    detector_bandwidth: float = parameter(
        'Bandwidth of the filter that finds changes.', 100.0, unit='rad/s', low=1.0, high=2000.0
    )
    detector_forgetting: float = parameter(
        'Rate at which a lasting torque is taken for an error of the model.',
        6.0,
        unit='1/s',
        low=0.01,
        high=100.0,
    )
    hold_time: float = parameter(
        'How long a contact is reported after its last sign.', 0.1, unit='s', low=0.0, high=10.0
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
        self.require_sizes('max_joint_speed')
        check_friction_source(self.friction_source, self.friction_file)
        size = len(self.observer_gain)
        if size != 1 and self.joints and size != len(self.joints):
            raise ConfigurationError(
                f'observer_gain has {size} entries, expected one or {len(self.joints)} as in '
                'joints'
            )
        if self.gravity_compensated_by_hardware and self.effort_semantics == 'torque':
            raise ConfigurationError(
                'gravity_compensated_by_hardware is true, but effort_semantics torque says that '
                'the efforts hold the weight: set effort_semantics gravity_compensated, or '
                'gravity_compensated_by_hardware false if the robot reports the whole torque'
            )


@dataclass(frozen=True)
class JointForceRelayParameters(RobotParameters):
    """Parameters of `joint_force_relay_node`."""

    command_timeout: float = parameter(
        'Silence after which zeros are sent instead of the last command, on a steady clock.',
        0.25,
        unit='s',
        low=0.01,
        high=3.0,
    )


@dataclass(frozen=True)
class IdentificationParameters(SignedEffortParameters):
    """Parameters of `identification_node`."""

    effort_semantics: str = parameter(
        'What the effort of the joint states is: the whole torque of the joint, or the current of '
        'the motor. There is no default: friction learnt from anything else is wrong.',
        choices=('torque', 'current', 'gravity_compensated'),
    )
    effort_source: str = parameter(
        'Where the efforts come from: joint_states; or commands, what effort_controller/commands '
        'asks for, where nothing is measured.',
        'joint_states',
        choices=('joint_states', 'commands'),
    )
    offline_report: str = parameter(
        'The report.json of robot_dynamics identify, to begin from; empty to begin from the '
        'description with everything open.',
        '',
    )
    accept_unfit_report: bool = parameter(
        'Whether offline_report may be one that says itself that its model must not be used.',
        False,
    )
    friction_form: str = parameter(
        'Terms of friction without offline_report.',
        'coulomb',
        choices=('viscous', 'coulomb', 'two_sided'),
    )
    smoothing_velocity: float = parameter(
        'Width of the smooth sign of friction without offline_report.',
        0.02,
        unit='rad/s | m/s',
        low=0.0,
        high=1.0,
    )
    cutoff: float = parameter(
        'Of the filter of both sides, at least 0.1; 0 for that of the report, or 5.',
        0.0,
        unit='Hz',
        low=0.0,
        high=100.0,
    )
    effort_delay: float = parameter(
        'Efforts are stamped so much too late; added to that of the report.',
        0.0,
        unit='s',
        low=-0.1,
        high=0.1,
    )
    standstill: float = parameter(
        'Joints slower than this are at rest, where nothing is learnt.',
        0.02,
        unit='rad/s | m/s',
        low=0.0,
        high=10.0,
    )
    friction_memory: float = parameter(
        'Seconds of motion after which a row counts for a third in the friction.',
        30.0,
        unit='s',
        low=2.0,
        high=1e6,
    )
    track_stribeck: bool = parameter(
        'Whether the static level and the Stribeck velocity are tracked as well.', False
    )
    base_memory: float = parameter(
        'Seconds of motion after which a row counts for a third in the base parameters.',
        1800.0,
        unit='s',
        low=1.0,
        high=1e9,
    )
    publish_rate: float = parameter(
        'Rate of ~/friction; ~/parameters and ~/payload come once a second.',
        5.0,
        unit='Hz',
        low=0.1,
        high=50.0,
    )
    state_timeout: float = parameter(
        'Age of the joint states beyond which they are missing, on a steady clock.',
        0.5,
        unit='s',
        low=0.005,
        high=60.0,
    )
    max_joint_speed: tuple[float, ...] = parameter(
        'Speed beyond which a step in position is taken for a fault of the message, in the '
        'order of joints; empty for no check.',
        (),
        unit='rad/s | m/s',
        low=1e-6,
    )
    state_file: str = parameter(
        'File in which what was learnt is kept over restarts; empty for none.', ''
    )
    state_period: float = parameter(
        'Time between two writings of state_file.', 60.0, unit='s', low=1.0, high=1e6
    )
    output_directory: str = parameter('Where ~/save writes its files.', '')
    overwrite: bool = parameter('Whether ~/save replaces the files of an earlier result.', False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_sizes('max_joint_speed')
        if any(abs(sign) != 1.0 for sign in self.effort_signs):
            raise ConfigurationError('effort_signs: expected 1 or -1 for each joint')
        if 0.0 < self.cutoff < 0.1:
            raise ConfigurationError(
                f'cutoff is {self.cutoff:g} Hz, expected 0.1 to 100, or 0 for that of the report'
            )
        if self.effort_semantics == 'gravity_compensated':
            raise ConfigurationError(
                'effort_semantics is gravity_compensated: without the torque that carries the '
                'weight there is nothing to identify bodies from; have the driver publish the '
                'whole torque, or currents with torque_constants'
            )
        if self.effort_source == 'commands' and self.effort_semantics != 'torque':
            raise ConfigurationError('effort_source commands needs effort_semantics torque')


@dataclass(frozen=True)
class MonitorParameters(RobotParameters):
    """Parameters of `monitor_node`."""

    rate: float = parameter(
        'States per second that are compared with Pinocchio.',
        1.0,
        unit='Hz',
        low=0.01,
        high=20.0,
    )
    state_timeout: float = parameter(
        'Age of the joint states beyond which they are not compared.',
        1.0,
        unit='s',
        low=0.005,
        high=60.0,
    )


@dataclass(frozen=True)
class EffortWatchdogParameters(TorqueParameters):
    """Parameters of `effort_watchdog_node`."""

    scale: float = parameter(
        'Factor on the gravity torque that hold_gravity holds; as in the node that commands.',
        1.0,
        low=0.0,
        high=1.5,
    )
    command_timeout: float = parameter(
        'Silence of the commands after which the node takes over, on a steady clock; longer than '
        'state_timeout here and in the node that commands, which is silent that long without '
        'states.',
        0.2,
        unit='s',
        low=0.01,
        high=5.0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.command_timeout > 1.2 * self.state_timeout:
            raise ConfigurationError(
                f'command_timeout is {self.command_timeout:g} s, expected more than 1.2 times '
                f'state_timeout ({self.state_timeout:g} s): a controller that waits for states '
                'is silent for that long'
            )


@dataclass(frozen=True)
class DifferentialDriveParameters:
    """Parameters of `differential_drive_node`."""

    autostart: bool = parameter(
        'Whether the node configures and activates itself as soon as it can.',
        False,
        read_only=True,
    )
    mass: float = parameter('Mass of all, wheels included.', 20.0, unit='kg', low=1e-6)
    yaw_inertia: float = parameter(
        "Inertia of all about the vertical through the axle's midpoint.",
        0.8,
        unit='kg m^2',
        low=1e-9,
    )
    com_offset: float = parameter(
        'Distance of the centre of mass ahead of the axle.', 0.0, unit='m'
    )
    wheel_radius: float = parameter('Radius of the wheels.', 0.1, unit='m', low=1e-6)
    track: float = parameter('Distance between the wheels.', 0.4, unit='m', low=1e-6)
    wheel_inertia: float = parameter(
        'Inertia of one wheel about its axle, with the rotor behind its gear.',
        0.02,
        unit='kg m^2',
        low=1e-9,
    )
    viscous: float = parameter('Viscous friction of one wheel.', 0.5, unit='N m s/rad', low=0.0)
    grip: float = parameter(
        'Coefficient of friction between wheels and ground; 0 for wheels that never slip.',
        0.8,
        low=0.0,
    )
    wheel_load: float = parameter(
        'Force that presses each wheel to the ground; 0 for half of the weight.',
        0.0,
        unit='N',
        low=0.0,
    )
    effort_limit: float = parameter(
        'Largest torque of each wheel.', 10.0, unit='N m', low=1e-6, high=1e6
    )
    wheel_joints: tuple[str, ...] = parameter(
        'Names of the left and the right wheel, also the order of the commands.',
        ('left_wheel_joint', 'right_wheel_joint'),
        size=2,
    )
    state_rate: float = parameter(
        'States per simulated second.', 100.0, unit='Hz', low=1.0, high=2000.0
    )
    real_time_factor: float = parameter('Simulated over real time.', 1.0, low=0.01, high=100.0)
    publish_clock: bool = parameter(
        'Whether /clock is published and time begins at zero, instead of at the present time.',
        False,
    )
    odom_frame: str = parameter('Frame of the odometry.', 'odom')
    base_frame: str = parameter('Frame of the base, at the middle of the axle.', 'base_link')


@dataclass(frozen=True)
class ExcitationParameters:
    """Parameters of `excitation_node`."""

    autostart: bool = parameter(
        'Whether the node configures and activates itself as soon as it can; the arm does not '
        'move before ~/start is called.',
        False,
        read_only=True,
    )
    trajectory_file: str = parameter(
        'YAML file of a trajectory_msgs/JointTrajectory, as robot_dynamics excite writes it.'
    )
    output_topic: str = parameter(
        'Where trajectories go: that of a joint_trajectory_controller, or ~/reference of '
        'inverse_dynamics_node.',
        'joint_trajectory_controller/joint_trajectory',
    )
    speed_scale: float = parameter(
        "Share of the trajectory's speed; begin with 0.2. Counts from the next start on.",
        1.0,
        low=0.01,
        high=1.0,
        is_live=True,
    )
    approach_speed: float = parameter(
        'Largest speed on the way to the start of the trajectory.',
        0.3,
        unit='rad/s | m/s',
        low=0.001,
        high=10.0,
    )
    approach_acceleration: float = parameter(
        'Largest acceleration on that way.',
        0.5,
        unit='rad/s^2 | m/s^2',
        low=0.001,
        high=100.0,
    )
    approach_limit: float = parameter(
        'Distance of a joint from the start of the trajectory beyond which ~/start refuses; '
        'nothing looks for collisions on that way.',
        0.5,
        unit='rad | m',
        low=0.001,
        high=100.0,
    )
    tolerance: float = parameter(
        'Distance of a joint from the motion beyond which it is aborted.',
        0.2,
        unit='rad | m',
        low=0.001,
        high=100.0,
        is_live=True,
    )
    state_timeout: float = parameter(
        'Age of joint states beyond which the motion is aborted.',
        0.2,
        unit='s',
        low=0.01,
        high=10.0,
    )
    braking_acceleration: float = parameter(
        'Largest acceleration when the motion is aborted; 0 for a fifth more than the motion '
        'has itself. What the motion needs is never refused.',
        0.0,
        unit='rad/s^2 | m/s^2',
        low=0.0,
        high=1000.0,
    )


NODE_PARAMETERS: dict[str, type] = {
    'inverse_dynamics_node': InverseDynamicsParameters,
    'gravity_compensation_node': GravityCompensationParameters,
    'forward_simulation_node': ForwardSimulationParameters,
    'trajectory_annotator_node': TrajectoryAnnotatorParameters,
    'identification_node': IdentificationParameters,
    'monitor_node': MonitorParameters,
    'external_torque_node': ExternalTorqueParameters,
    'joint_force_relay_node': JointForceRelayParameters,
    'effort_watchdog_node': EffortWatchdogParameters,
    'differential_drive_node': DifferentialDriveParameters,
    'excitation_node': ExcitationParameters,
}
"""Parameters by the name of the node."""

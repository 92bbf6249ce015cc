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

"""What a node hears of its own model while it runs: payload and friction."""

from __future__ import annotations

import time
from typing import Protocol

from geometry_msgs.msg import InertiaStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.online_friction import OnlineFriction, OnlineFrictionBounds
from robot_dynamics_ros.core.exceptions import ConfigurationError, RobotDynamicsError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.conversions import payload_from_bytes
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.qos import LATCHED
from robot_dynamics_ros.ros.robot_parameters import CommandParameters, UpdatedParameters
from robot_dynamics_ros.ros.robot_source import friction_of, payload_of, resolved_path
from robot_dynamics_ros.ros.serialized import JointStateReader


class _OnlineFriction(Protocol):
    """Parameters that say how friction follows estimates."""

    @property
    def friction_file(self) -> str: ...

    @property
    def estimate_timeout(self) -> float: ...

    @property
    def estimate_deviation(self) -> float: ...

    @property
    def estimate_factor(self) -> float: ...

    @property
    def glide_time(self) -> float: ...


def command_friction(
    parameters: CommandParameters, model: RobotModel
) -> FrictionModel | OnlineFriction | None:
    """
    Return the friction of the command that the parameters name, or None.

    Raises
    ------
    ConfigurationError
        If the file or a value is refused.

    """
    if parameters.friction_source != 'online':
        return friction_of(parameters, model)
    return online_friction(parameters, model)


def online_friction(parameters: _OnlineFriction, model: RobotModel) -> OnlineFriction:
    """
    Return friction that begins with the file's and follows the estimates.

    Raises
    ------
    ConfigurationError
        If the file is refused.

    """
    file = resolved_path(parameters.friction_file)
    bounds = OnlineFrictionBounds(
        timeout=parameters.estimate_timeout,
        deviation=parameters.estimate_deviation,
        factor=parameters.estimate_factor,
        glide_time=parameters.glide_time,
    )
    return OnlineFriction(FrictionModel.from_file(file, model.joint_names), bounds)


class _Updated(Protocol):
    """What is needed of the node."""

    model: RobotModel

    @property
    def parameters(self) -> UpdatedParameters: ...

    @property
    def friction(self) -> FrictionModel | OnlineFriction | None: ...

    def change_model(self, model: RobotModel) -> None: ...

    def note_malformed(self) -> None: ...


class ModelUpdates:
    """
    Subscribe to ``~/payload`` and ``~/friction``, as far as the parameters allow it.

    Parameters
    ----------
    node : RobotNode
        Node that has them, and a model to change; it is configured.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._updated: _Updated = node
        parameters = self._updated.parameters
        self._is_online = parameters.payload_source == 'online'
        self._heard: float | None = None
        self._refusal = ''
        self._reader = JointStateReader()
        self._subscriptions = []
        if parameters.payload_source != 'parameters':
            self._subscriptions.append(
                node.create_subscription(
                    InertiaStamped, '~/payload', self._on_payload, LATCHED, raw=True
                )
            )
        if isinstance(self._updated.friction, OnlineFriction):
            self._subscriptions.append(
                node.create_subscription(JointState, '~/friction', self._on_friction, 1, raw=True)
            )

    def destroy(self) -> None:
        """Take the subscriptions away."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def watch(self, now: float) -> None:
        """Go back to the payload of the parameters if its estimate is not repeated."""
        parameters = self._updated.parameters
        if self._heard is None or now - self._heard <= parameters.estimate_timeout:
            return
        self._heard = None
        self._refusal = 'the estimate of the payload has not been repeated'
        self._node.get_logger().warning(f'{self._refusal}: back to that of the parameters')
        try:
            self._take(payload_of(parameters))
        except RobotDynamicsError as error:
            self._node.get_logger().error(f'payload refused: {" ".join(str(error).split())}')

    def report(self) -> Report:
        """Return what the diagnostics say of the model in use."""
        payload = self._updated.model.payload
        values: dict[str, object] = {
            'payload [kg]': 0.0 if payload is None else payload.mass,
            'payload from': 'topic' if self._heard is not None else 'parameters',
        }
        friction = self._updated.friction
        reasons = [self._refusal] if self._refusal else []
        if isinstance(friction, OnlineFriction):
            online = dict(zip(friction.joint_names, friction.is_online.tolist()))
            values['friction online'] = ', '.join(name for name, is_on in online.items() if is_on)
            values['estimates taken'] = friction.accepted
            values['estimates refused'] = friction.refused
            if friction.reason:
                reasons.append(f'friction of the file: {friction.reason}')
        if reasons:
            return Report(Level.WARN, '; '.join(reasons), values)
        return Report(Level.OK, 'as estimated' if self._subscriptions else 'as given', values)

    def _on_friction(self, message: bytes) -> None:
        friction, reader = self._updated.friction, self._reader
        if not isinstance(friction, OnlineFriction):
            return
        if not reader.read(message):
            self._updated.note_malformed()
            return
        refusal = friction.offer(
            reader.names, _numbers(reader.position), _numbers(reader.effort), time.monotonic()
        )
        if refusal:
            self._node.get_logger().error(
                f'friction refused: {refusal}', throttle_duration_sec=5.0
            )

    def _on_payload(self, message: bytes) -> None:
        parameters = self._updated.parameters
        try:
            payload = payload_from_bytes(message, parameters.payload_frame)
            if 0.0 < parameters.payload_limit < payload.mass:
                raise ConfigurationError(
                    f'{payload.mass:g} kg, payload_limit is {parameters.payload_limit:g} kg'
                )
            self._take(payload)
        except ValueError:
            self._updated.note_malformed()
            return
        except RobotDynamicsError as error:
            self._refusal = f'payload refused: {" ".join(str(error).split())}'
            self._node.get_logger().error(self._refusal, throttle_duration_sec=1.0)
            return
        self._refusal = ''
        if self._is_online:
            self._heard = time.monotonic()

    def _take(self, payload: Payload | None) -> None:
        """
        Change to a payload, unless it is there already.

        Raises
        ------
        RobotDynamicsError
            If the robot cannot carry it.

        """
        if payload is not None and payload.mass == 0.0:
            payload = None
        model = self._updated.model
        if _is_same(payload, model.payload):
            return
        self._updated.change_model(model.with_payload(payload))
        text = 'none' if payload is None else f'{payload.mass:g} kg at {payload.frame}'
        self._node.get_logger().info(f'payload: {text}')


def _is_same(one: Payload | None, other: Payload | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.mass == other.mass
        and one.frame == other.frame
        and np.array_equal(one.com, other.com)
        and np.array_equal(one.inertia, other.inertia)
    )


def _numbers(values: object) -> Vector:
    return np.array(values, dtype=float).ravel()

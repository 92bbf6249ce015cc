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

"""The part of the demonstration that talks to the nodes over DDS: services, reference, records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import os
import socket
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.demo.processes import DemoError, NodeProcesses
from robot_dynamics_ros.demo.recorder import Recorder
from robot_dynamics_ros.ros.qos import REFERENCE

CONTROLLER = 'inverse_dynamics_node'
PLANT = 'forward_simulation_node'
STATES = '/joint_states'
COMMANDS = '/effort_controller/commands'
TORQUES = f'/{CONTROLLER}/torques'
REFERENCES = f'/{CONTROLLER}/reference'
TOPICS = {
    STATES: JointState,
    COMMANDS: Float64MultiArray,
    TORQUES: JointState,
    REFERENCES: JointTrajectory,
}
"""What is recorded."""

_TORQUE_STATUS = f'{CONTROLLER}: torque'
_REFERENCE_STATUS = f'{CONTROLLER}: reference'

SERVICE_TIMEOUT = 60.0
"""A node may have to start first [s]."""

POLL_PERIOD = 0.02
_SLOW = 8.0

_DOMAINS = range(40, 100)  # from 102 on, Linux may have given the ports to somebody else
_PORT_BASE, _DOMAIN_GAIN, _FIRST_UNICAST = 7400, 250, 10


def isolate(domain: int | None) -> int:
    """
    Keep this process and its children among themselves; return their domain.

    Nothing of a robot that this machine may be connected to shall hear the demonstration, so the
    domain of the environment is not used.

    """
    chosen = _unused_domain() if domain is None else domain
    os.environ['ROS_DOMAIN_ID'] = str(chosen)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    for name in ('ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER', 'ROS_LOCALHOST_ONLY'):
        os.environ.pop(name, None)
    return chosen


def _unused_domain() -> int:
    """Return a domain in which no participant of DDS runs on this machine."""
    start = os.getpid()  # two demonstrations that start together try different ones
    for offset in range(len(_DOMAINS)):
        domain = _DOMAINS[(start + offset) % len(_DOMAINS)]
        port = _PORT_BASE + _DOMAIN_GAIN * domain + _FIRST_UNICAST
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(('0.0.0.0', port))
            except OSError:
                continue
            return domain
    raise DemoError(
        f'the domains {_DOMAINS[0]} to {_DOMAINS[-1]} are all in use on this machine; '
        'give another one with --domain'
    )


class Graph:
    """
    Two ROS nodes of this process, as a context manager: one that is spun, and a recorder.

    Parameters
    ----------
    processes : NodeProcesses
        Must be alive whenever something is waited for.
    say : callable
        Tells the user why something takes long.

    """

    def __init__(self, processes: NodeProcesses, say: Callable[[str], None]) -> None:
        self._processes = processes
        self._say = say
        self._clients: dict[str, Any] = {}
        self._fault = ''

    def __enter__(self) -> Graph:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node('demo')
        self._listener = Node('demo_recorder')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self.recorder = Recorder(self._listener, TOPICS, rare=[REFERENCES])
        self._reference = self._node.create_publisher(JointTrajectory, REFERENCES, REFERENCE)
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._executor.shutdown(timeout_sec=0.5)
        self._node.destroy_node()
        self._listener.destroy_node()
        rclpy.try_shutdown()

    # Waiting.

    def wait_for(
        self, condition: Callable[[], Any], what: str, timeout: float, if_slow: str = ''
    ) -> None:
        """
        Go on recording until something is true.

        Parameters
        ----------
        condition : callable
            Whether it is.
        what : str
            What is waited for.
        timeout : float
            Longest time [s].
        if_slow : str
            What the user is told when it takes long.

        Raises
        ------
        DemoError
            If a node died, or it did not come true in time.

        """
        began = time.monotonic()
        while not condition():
            self._processes.require_alive()
            elapsed = time.monotonic() - began
            if elapsed > timeout:
                raise DemoError(f'waited {timeout:g} s in vain for {what}')
            if if_slow and elapsed > _SLOW:
                self._say(if_slow)
                if_slow = ''
            self._executor.spin_once(timeout_sec=POLL_PERIOD)
            self.recorder.poll()

    def newest_stamp(self) -> int:
        """Return the stamp of the newest joint state [ns]; 0 if none has come."""
        state = self.recorder.newest(STATES)
        return 0 if state is None else state.header.stamp.sec * 10**9 + state.header.stamp.nanosec

    # Services.

    def call(
        self,
        service_type: Any,
        service: str,
        request: Any,
        timeout: float = SERVICE_TIMEOUT,
        if_slow: str = '',
    ) -> Any:
        """
        Call a service and return its answer.

        Raises
        ------
        DemoError
            If a node died, or no answer came in time.

        """
        client = self._clients.get(service)
        if client is None:
            client = self._node.create_client(service_type, service)
            self._clients[service] = client
        self.wait_for(client.service_is_ready, f'the service {service}', SERVICE_TIMEOUT)
        future = client.call_async(request)
        self.wait_for(future.done, f'the answer of {service}', timeout, if_slow)
        return future.result()

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """
        Set parameters of a node, all or none.

        Raises
        ------
        DemoError
            If the node refuses, or does not answer.

        """
        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        service = f'/{node}/set_parameters_atomically'
        result = self.call(SetParametersAtomically, service, request).result
        if not result.successful:
            raise DemoError(f'{node} refuses its parameters: {result.reason}')

    def transition(
        self, node: str, label: str, timeout: float = SERVICE_TIMEOUT, if_slow: str = ''
    ) -> bool:
        """Make a lifecycle transition; return whether the node made it."""
        request = ChangeState.Request()
        request.transition.label = label
        answer = self.call(ChangeState, f'/{node}/change_state', request, timeout, if_slow)
        return bool(answer.success)

    def require_transition(
        self, node: str, label: str, timeout: float = SERVICE_TIMEOUT, if_slow: str = ''
    ) -> None:
        """
        Make a lifecycle transition.

        Raises
        ------
        DemoError
            If the node does not make it, with the reason from its log.

        """
        if not self.transition(node, label, timeout, if_slow):
            reason = self._processes.last_words(node)
            raise DemoError(f'{node} does not {label}{reason}')

    # Reference and diagnostics.

    def send_reference(self, message: JointTrajectory) -> None:
        """
        Publish a reference once the controller listens.

        Raises
        ------
        DemoError
            If a node died, or the controller does not listen.

        """
        self.wait_for(
            lambda: self._reference.get_subscription_count() >= 2,  # the recorder, too
            f'{CONTROLLER} to listen to {REFERENCES}',
            SERVICE_TIMEOUT,
        )
        self._reference.publish(message)

    def take_fault(self) -> str:
        """Return what the controller has complained of since the last call; empty if nothing."""
        fault, self._fault = self._fault, ''
        return fault

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            is_fault = status.level == DiagnosticStatus.ERROR and status.name == _TORQUE_STATUS
            is_refusal = status.level != DiagnosticStatus.OK and status.name == _REFERENCE_STATUS
            if (is_fault or is_refusal) and not self._fault:
                self._fault = status.message

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

"""A ROS graph in the process of a test: nodes under test, and one that talks to them."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

DEADLINE = 20.0
"""Longest wait for anything [s]; machines that build the package are slow and shared."""


class Graph:
    """Nodes in one executor, which is spun until something is true."""

    def __init__(self) -> None:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self.executor = SingleThreadedExecutor()
        self.probe = Node('probe')
        self.nodes: list[Any] = []
        self.nodes_of_others: list[Node] = []
        self.executor.add_node(self.probe)

    def add(self, node_class: Any, **parameters: Any) -> Any:
        """Make a node with parameters; ``__`` in a name stands for a dot, ``node`` its options."""
        options = parameters.pop('node', {})
        overrides = [
            Parameter(name.replace('__', '.'), value=value) for name, value in parameters.items()
        ]
        node = node_class(parameter_overrides=overrides, **options)
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def collect(self, message_type: Any, topic: str, qos: QoSProfile | int = 1000) -> list[Any]:
        """Subscribe; return the list that messages are appended to."""
        messages: list[Any] = []
        self.probe.create_subscription(message_type, topic, messages.append, qos)
        return messages

    def spin_until(self, condition: Callable[[], Any], deadline: float = DEADLINE) -> bool:
        """Spin until the condition holds; return whether it does."""
        end = time.monotonic() + deadline
        while not condition():
            if time.monotonic() > end:
                return False
            self.executor.spin_once(timeout_sec=0.05)
        return True

    def spin_for(self, seconds: float) -> None:
        """Spin for some time, in which something must not happen."""
        self.spin_until(lambda: False, seconds)

    def matched(self, publisher: Any, count: int = 1) -> bool:
        """Wait until as many subscribers listen."""
        return self.spin_until(lambda: publisher.get_subscription_count() >= count)

    def call(self, client: Any, request: Any) -> Any:
        """Call a service and return its answer."""
        assert self.spin_until(client.service_is_ready)
        future = client.call_async(request)
        assert self.spin_until(future.done)
        return future.result()

    def close(self) -> None:
        """Destroy everything."""
        for node in self.nodes:
            if hasattr(node, 'guard'):
                node.guard.let_go('the test is over')  # no arm hangs on it: spare the ramp
            node.finish()
            node.destroy_node()
        for node in (*self.nodes_of_others, self.probe):
            node.destroy_node()
        self.executor.shutdown()
        rclpy.try_shutdown()


def joint_state(
    names: list[str],
    position: Any,
    velocity: Any = (),
    effort: Any = (),
    stamp: float | None = None,
) -> JointState:
    """Return a joint state; its stamp is the present time if none is given."""
    message = JointState(
        name=list(names),
        position=np.asarray(position, dtype=float).tolist(),
        velocity=np.asarray(velocity, dtype=float).tolist(),
        effort=np.asarray(effort, dtype=float).tolist(),
    )
    nanoseconds = time.time_ns() if stamp is None else round(stamp * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
    return message


class StateFeed:
    """Publish the same joint state again and again, each time with a new stamp."""

    def __init__(
        self, graph: Graph, names: list[str], topic: str = 'joint_states', rate: float = 100.0
    ) -> None:
        self.names = list(names)
        self.position: Any = np.zeros(len(names))
        self.velocity: Any = np.zeros(len(names))
        self.effort: Any = ()
        self.is_on = True
        self.publisher = graph.probe.create_publisher(JointState, topic, 1)
        self._timer = graph.probe.create_timer(1.0 / rate, self._publish)

    def _publish(self) -> None:
        if self.is_on:
            state = joint_state(self.names, self.position, self.velocity, self.effort)
            self.publisher.publish(state)


class Statuses:
    """The newest diagnostics by name, without the name of the node."""

    def __init__(self, graph: Graph) -> None:
        self.newest: dict[str, DiagnosticStatus] = {}
        graph.probe.create_subscription(DiagnosticArray, '/diagnostics', self._take, 10)

    def _take(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.newest[status.name.split(': ', 1)[1]] = status

    def message(self, name: str) -> str:
        """Return the message of a status, empty if it has not come yet."""
        status = self.newest.get(name)
        return '' if status is None else str(status.message)

    def level(self, name: str) -> int:
        """Return its level, -1 if it has not come yet."""
        status = self.newest.get(name)
        return -1 if status is None else int.from_bytes(status.level, 'little')

    def values(self, name: str) -> dict[str, str]:
        """Return its values by key."""
        status = self.newest.get(name)
        return {} if status is None else {each.key: each.value for each in status.values}

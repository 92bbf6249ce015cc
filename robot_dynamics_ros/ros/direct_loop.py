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
Spinning with few steps between a message and its callback.

For every event rclpy's executor builds a wait set, wraps the callback into a task and a coroutine,
and wakes itself up twice more. Here the wait set is kept, and messages and timers are handled
directly, first those of the one subscription that counts. Services are left to the executor, in
the same thread.

"""

from __future__ import annotations

from typing import Any

from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation

from robot_dynamics_ros.ros.serialized import RMW_ERROR


class DirectLoop:
    """
    Spin a node.

    Parameters
    ----------
    node : ManagedNode
        Its ``direct_subscription`` is the one that counts, or None. The callbacks of its
        subscriptions and timers are plain functions of the message, and of nothing.
    executor : Executor
        Has the node, and handles everything else.

    """

    def __init__(self, node: Any, executor: Executor) -> None:
        self._node = node
        self._executor = executor
        self._entities: tuple[list[Any], ...] = ([], [], [], [])
        self._wait_set: Any = None

    def spin_once(self) -> None:
        """Wait for events and handle them."""
        wait_set = self._filled_wait_set()
        wait_set.wait(-1)
        ready = wait_set.get_ready_entities('subscription')
        direct = self._node.direct_subscription
        if direct is not None and direct.handle.pointer in ready:
            self._handle(direct)
        if wait_set.get_ready_entities('timer'):
            self._call_timers()
        if ready:
            for subscription in self._entities[0]:
                if subscription is not direct and subscription.handle.pointer in ready:
                    self._handle(subscription)
        if wait_set.get_ready_entities('service') or wait_set.get_ready_entities('client'):
            self._serve()

    def _serve(self) -> None:
        """Answer a service; what rclpy itself raises there must not end the control."""
        try:
            self._executor.spin_once(timeout_sec=0)
        except RuntimeError as error:  # such as a transition that is not allowed now
            reason = ' '.join(str(error).split())[:300]
            self._node.get_logger().error(f'a service call failed: {reason}')

    def _handle(self, subscription: Any) -> None:
        try:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        except RMW_ERROR:
            self._node.note_malformed()
            return
        if taken is not None:
            subscription.callback(taken[0])

    def _call_timers(self) -> None:
        for timer in self._entities[1]:
            handle = timer.handle
            if not timer.is_canceled() and handle.is_timer_ready():
                handle.call_timer()
                timer.callback()

    def _filled_wait_set(self) -> Any:
        """Return the wait set with all entities of the node; waiting takes them out each time."""
        node = self._node
        entities = (
            [each for each in node.subscriptions if each is not node.unpolled_subscription],
            list(node.timers),
            list(node.clients),
            list(node.services),
        )
        if entities != self._entities or self._wait_set is None:
            self._entities = entities
            sizes = [len(kind) for kind in entities]
            self._wait_set = rclpy_implementation.WaitSet(
                sizes[0], 0, sizes[1], sizes[2], sizes[3], 0, node.context.handle
            )
        wait_set = self._wait_set
        wait_set.clear_entities()
        subscriptions, timers, clients, services = entities
        for subscription in subscriptions:
            wait_set.add_subscription(subscription.handle)
        for timer in timers:
            wait_set.add_timer(timer.handle)
        for client in clients:
            wait_set.add_client(client.handle)
        for service in services:
            wait_set.add_service(service.handle)
        return wait_set

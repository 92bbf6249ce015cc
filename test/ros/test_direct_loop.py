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

"""The loop that the nodes run in: what it handles itself, and what it leaves to the executor."""

from collections.abc import Iterator
import os
import time
from typing import Any

import pytest

os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.signals import SignalHandlerOptions  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from robot_dynamics_ros.ros.direct_loop import DirectLoop  # noqa: E402
from robot_dynamics_ros.ros.timers import steady_timer  # noqa: E402


class Listener(Node):
    """A node with one event of each kind."""

    def __init__(self) -> None:
        super().__init__('listener')
        self.log: list[str] = []
        self.malformed = 0
        self.unpolled_subscription = None
        self.direct_subscription = self.create_subscription(
            Float64MultiArray, 'direct', lambda message: self.log.append('direct'), 1
        )
        self.create_subscription(String, 'other', lambda message: self.log.append('other'), 10)
        self.create_service(Trigger, 'service', self._serve)
        self.timer = steady_timer(self, 0.01, lambda: self.log.append('timer'))

    def _serve(self, request: Any, response: Any) -> Any:
        self.log.append('service')
        return response

    def note_malformed(self) -> None:
        self.malformed += 1


@pytest.fixture
def nodes() -> Iterator[tuple[Listener, Node, DirectLoop]]:
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    listener, talker = Listener(), Node('talker')
    executor = SingleThreadedExecutor()
    executor.add_node(listener)
    yield listener, talker, DirectLoop(listener, executor)
    executor.shutdown()
    listener.destroy_node()
    talker.destroy_node()
    rclpy.try_shutdown()


def spin_until(loop: DirectLoop, condition: Any) -> bool:
    end = time.monotonic() + 10.0
    while not condition() and time.monotonic() < end:
        loop.spin_once()
    return bool(condition())


def test_every_kind_of_event_is_handled(nodes: tuple[Listener, Node, DirectLoop]) -> None:
    listener, talker, loop = nodes
    direct = talker.create_publisher(Float64MultiArray, 'direct', 1)
    other = talker.create_publisher(String, 'other', 10)
    client = talker.create_client(Trigger, 'service')
    assert spin_until(
        loop,
        lambda: (
            direct.get_subscription_count()
            and other.get_subscription_count()
            and client.service_is_ready()
        ),
    )
    direct.publish(Float64MultiArray())
    other.publish(String())
    client.call_async(Trigger.Request())
    assert spin_until(loop, lambda: {'direct', 'other', 'service', 'timer'} <= set(listener.log))
    assert listener.log.count('direct') == 1
    assert listener.log.count('other') == 1


def test_timers_keep_their_period_and_can_be_cancelled(
    nodes: tuple[Listener, Node, DirectLoop],
) -> None:
    listener, _, loop = nodes
    began = time.monotonic()
    assert spin_until(loop, lambda: len(listener.log) == 30)
    assert 0.25 < time.monotonic() - began < 5.0
    listener.timer.cancel()
    count = len(listener.log)
    second = steady_timer(listener, 0.05, lambda: listener.log.append('second'))
    assert spin_until(loop, lambda: listener.log.count('second') == 3)
    assert len(listener.log) == count + 3
    listener.destroy_timer(second)


def test_bytes_that_are_no_message_do_no_harm(nodes: tuple[Listener, Node, DirectLoop]) -> None:
    # rmw_fastrtps drops them; others may raise, and then they are counted.
    listener, talker, loop = nodes
    direct = talker.create_publisher(Float64MultiArray, 'direct', 1)
    other = talker.create_publisher(String, 'other', 10)
    assert spin_until(
        loop, lambda: direct.get_subscription_count() and other.get_subscription_count()
    )
    for publisher in (direct, other):
        publisher.publish(b'\0\1\0\0' + b'\xff' * 20)
        count = listener.log.count('timer')
        assert spin_until(loop, lambda count=count: listener.log.count('timer') > count + 3)
    direct.publish(Float64MultiArray())
    other.publish(String())
    assert spin_until(loop, lambda: {'direct', 'other'} <= set(listener.log))

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
A program for launch files: wait until a lifecycle node has been in a state for some time, and end.

It asks again and again. The event that a node publishes when it changes its state is lost to
whoever has not been discovered yet, and a launch file that waits for it then waits for ever.

An active node need not command any torque: it may still ramp up, be switched off, or be in fault.
So ``carrying`` stands for more than ``active``: the node says on ``~/torque_state`` that all of
its torque is on. If it says that it is in fault, waiting is over, without success.

"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
import sys
import time

from lifecycle_msgs.srv import GetState
import rclpy
from rclpy.client import Client
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.ros.qos import LATCHED

CARRYING = 'carrying'
"""What is waited for beside the states of lifecycle nodes."""

PERIOD = 0.1
"""Time between two questions [s]."""

ANSWER_TIMEOUT = 1.0
"""Longest time for an answer; a node that configures does not answer before it is done [s]."""


class TorqueFaultError(RobotDynamicsError):
    """The node that was waited for is in fault."""


class StateQuestion:
    """
    Ask whether a node is in a state.

    Parameters
    ----------
    node : Node
        Node that asks.
    name : str
        Name of the other node, relative to the namespace of `node`.
    state : str
        State in lower case, such as ``active``, or ``carrying``.

    """

    def __init__(self, node: Node, name: str, state: str) -> None:
        self._node, self._name, self._state = node, name, state
        self._client: Client = node.create_client(GetState, f'{name}/get_state')
        self._torque = ''
        if state == CARRYING:
            self._heard = node.create_subscription(
                String, f'{name}/torque_state', self._on_torque, LATCHED
            )

    def _on_torque(self, message: String) -> None:
        self._torque = message.data

    def is_true(self) -> bool:
        """
        Return whether the node is in the state now.

        Raises
        ------
        TorqueFaultError
            If it is in fault, when its torque is waited for.

        """
        if self._state != CARRYING:
            return self._lifecycle() == self._state
        is_active = self._lifecycle() == 'active'
        if self._torque.startswith('fault'):
            raise TorqueFaultError(f'{self._name} is in {self._torque}')
        # A topic without publisher keeps the last word of a node that is dead.
        return is_active and self._torque == 'active' and self._heard.get_publisher_count() > 0

    def _lifecycle(self) -> str:
        """Return the state of the other node, empty if it does not answer."""
        if not self._client.wait_for_service(ANSWER_TIMEOUT):
            return ''
        future = self._client.call_async(GetState.Request())
        rclpy.spin_until_future_complete(self._node, future, timeout_sec=ANSWER_TIMEOUT)
        if not future.done():
            self._client.remove_pending_request(future)
            return ''
        return str(future.result().current_state.label)


def wait_until(node: Node, questions: Sequence[StateQuestion], duration: float) -> None:
    """
    Wait until all nodes have been in their states for a time without a break.

    Parameters
    ----------
    node : Node
        Node that asks.
    questions : sequence of StateQuestion
        What has to be true of each.
    duration : float
        How long they have to be in them [s].

    Raises
    ------
    TorqueFaultError
        If one is in fault, when its torque is waited for.

    """
    since = None
    while True:
        is_true = all(question.is_true() for question in questions)
        now = time.monotonic()
        if not is_true:
            since = None
        elif since is None:
            since = now
        if since is not None and now - since >= duration:
            return
        rclpy.spin_once(node, timeout_sec=PERIOD)
        time.sleep(max(now + PERIOD - time.monotonic(), 0.0))


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; the exit code is 0 once the state is reached, 1 if it is not."""
    given = list(sys.argv if args is None else args)
    parser = ArgumentParser(prog='wait_for_state', description=__doc__)
    parser.add_argument('node', help='name of the node, relative to the namespace')
    parser.add_argument('state', choices=['unconfigured', 'inactive', 'active', CARRYING])
    parser.add_argument('--for', dest='duration', type=float, default=0.0, metavar='SECONDS')
    parser.add_argument(
        '--beside', default='', metavar='NODE', help='another node that has to be active'
    )
    options = parser.parse_args(remove_ros_args(given)[1:])
    rclpy.init(args=given)
    try:
        node = Node(f'wait_for_{options.node.rpartition("/")[2]}')
        questions = [StateQuestion(node, options.node, options.state)]
        if options.beside:
            questions.append(StateQuestion(node, options.beside, 'active'))
        wait_until(node, questions, options.duration)
        node.get_logger().info(f'{options.node} is {options.state}')
    except TorqueFaultError as error:
        node.get_logger().error(str(error))
        sys.exit(1)
    except (KeyboardInterrupt, ExternalShutdownException):
        sys.exit(1)
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()

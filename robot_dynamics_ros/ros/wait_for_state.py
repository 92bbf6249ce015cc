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

PERIOD = 0.1
"""Time between two questions [s]."""

ANSWER_TIMEOUT = 1.0
"""Longest time for an answer; a node that configures does not answer before it is done [s]."""


def wait_for_state(node: Node, name: str, state: str, duration: float) -> None:
    """
    Wait until a node has been in a state for a time without a break.

    Parameters
    ----------
    node : Node
        Node that asks.
    name : str
        Name of the other node, relative to the namespace of `node`.
    state : str
        State in lower case, such as ``active``.
    duration : float
        How long it has to be in it [s].

    """
    client = node.create_client(GetState, f'{name}/get_state')
    since = None
    while True:
        found = _state(node, client)
        now = time.monotonic()
        if found != state:
            since = None
        elif since is None:
            since = now
        if since is not None and now - since >= duration:
            node.destroy_client(client)
            return
        time.sleep(PERIOD)


def _state(node: Node, client: Client) -> str:
    """Return the state of the other node, empty if it does not answer."""
    if not client.wait_for_service(ANSWER_TIMEOUT):
        return ''
    future = client.call_async(GetState.Request())
    rclpy.spin_until_future_complete(node, future, timeout_sec=ANSWER_TIMEOUT)
    if not future.done():
        client.remove_pending_request(future)
        return ''
    return str(future.result().current_state.label)


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; the exit code is 0 once the state is reached, 1 if it is interrupted."""
    given = list(sys.argv if args is None else args)
    parser = ArgumentParser(prog='wait_for_state', description=__doc__)
    parser.add_argument('node', help='name of the node, relative to the namespace')
    parser.add_argument('state', choices=['unconfigured', 'inactive', 'active'])
    parser.add_argument('--for', dest='duration', type=float, default=0.0, metavar='SECONDS')
    options = parser.parse_args(remove_ros_args(given)[1:])
    rclpy.init(args=given)
    try:
        node = Node(f'wait_for_{options.node.rpartition("/")[2]}')
        wait_for_state(node, options.node, options.state, options.duration)
        node.get_logger().info(f'{options.node} is {options.state}')
    except (KeyboardInterrupt, ExternalShutdownException):
        sys.exit(1)
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()

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
The main program of a node: start it, spin it, and bring it to rest before it ends.

The context must stay valid until the last torque has gone out. The signal handlers of rclpy
invalidate it as soon as a signal arrives, so that nothing can be published any more. Here SIGINT
and SIGTERM only ask the node to come to rest; it goes on spinning, on live states, until it is
there or `STOP_TIMEOUT` is over.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import signal
import sys
import time
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.ros.direct_loop import DirectLoop
from robot_dynamics_ros.ros.lifecycle import ManagedNode

STOP_TIMEOUT = 4.0
"""Longest time from a signal to the end of spinning [s]."""


def run_node(make_node: Callable[[], ManagedNode[Any]], args: Sequence[str] | None = None) -> int:
    """
    Run a node until it is finished or a signal comes.

    Parameters
    ----------
    make_node : callable
        Makes the node, once rclpy is initialised.
    args : sequence of str, optional
        Arguments for rclpy; by default those of the process.

    Returns
    -------
    exit_code : int
        0, or 1 if the arguments or the node were refused, or it gave up.

    """
    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except RuntimeError as error:  # what the errors of rcl have in common
        return _refused(f'rclpy does not start with these arguments: {error}')
    try:
        node = make_node()
    except (RobotDynamicsError, ParameterException) as error:
        rclpy.try_shutdown()
        return _refused(str(error))
    restore = _on_signals(node)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        _spin(node, DirectLoop(node, executor))
    except _ConfiguringInterruptedError:
        pass
    finally:
        node.finish()
        executor.shutdown(timeout_sec=0.5)
        node.destroy_node()
        rclpy.try_shutdown()
        restore()
    return node.exit_code


def _refused(reason: str) -> int:
    get_logger('robot_dynamics_ros').fatal(' '.join(reason.split()))
    return 1


def _spin(node: ManagedNode[Any], loop: DirectLoop) -> None:
    """Spin until the node is finished, or has come to rest after a request to stop."""
    while not (node.is_finished or node.stop_requested):
        loop.spin_once()  # the heartbeat of the node ends it ten times a second
    node.begin_stop()
    deadline = time.monotonic() + STOP_TIMEOUT
    while not node.is_at_rest():
        loop.spin_once()
        if time.monotonic() > deadline:
            node.get_logger().error(f'not at rest after {STOP_TIMEOUT:g} s')
            return


_AGAIN = 0.2
"""Time after which configuring is interrupted once more [s]."""


class _ConfiguringInterruptedError(BaseException):
    """A signal came while the node was configuring, so that there is no torque to ramp down."""


def _on_signals(node: ManagedNode[Any]) -> Callable[[], None]:
    """Stop the node on SIGINT and SIGTERM; return what puts back the handlers of before."""

    def handler(number: int, frame: FrameType | None) -> None:
        node.request_stop()
        if node.is_configuring:  # which may take long, when kernels are compiled
            # The compiler calls back from C now and then, where what is raised is lost: so again.
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
            raise _ConfiguringInterruptedError

    def again(number: int, frame: FrameType | None) -> None:
        if node.is_configuring:
            raise _ConfiguringInterruptedError
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    handlers = {signal.SIGINT: handler, signal.SIGTERM: handler, signal.SIGALRM: again}
    before = {number: signal.signal(number, each) for number, each in handlers.items()}

    def restore() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, old in before.items():
            signal.signal(number, old)

    return restore


def run(make_node: Callable[[], ManagedNode[Any]], args: Sequence[str] | None = None) -> None:
    """Run a node as the main program of the process; the exit code is that of `run_node`."""
    sys.exit(run_node(make_node, args))

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
The managed node that all nodes of the package are.

A node overrides `configure`, `activate`, `deactivate` and `cleanup`, which raise where something
is wrong. Here each transition is wrapped: what is raised is logged (an error of this package as
one line, any other with its traceback, which rclpy would swallow) and becomes a failed transition.
With the parameter ``autostart`` the node configures and activates itself as soon as nothing is
missing for it.

"""

from __future__ import annotations

from collections.abc import Callable
import gc
import time
import traceback
from typing import Any, Generic, Protocol, TypeVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription

from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.ros.clock_report import ClockReport
from robot_dynamics_ros.ros.declared_parameters import declare, values_of
from robot_dynamics_ros.ros.diagnostics import DiagnosticsReporter, Level, Report
from robot_dynamics_ros.ros.parameters import instance_of, refusal_of_changes
from robot_dynamics_ros.ros.timers import steady_timer


class _ManagedParameters(Protocol):
    """What the parameters of every node have."""

    @property
    def autostart(self) -> bool: ...


ParametersT = TypeVar('ParametersT', bound=_ManagedParameters)

HEARTBEAT = 0.1
"""Period of the timer that starts and stops the node [s]."""

_WAITING_LOG_PERIOD = 5.0


class ManagedNode(LifecycleNode, Generic[ParametersT]):
    """
    A lifecycle node with parameters and diagnostics.

    Parameters
    ----------
    name : str
        Name of the node.
    parameters_class : type
        Dataclass of its parameters.
    **options
        Passed on to the node of rclpy, such as ``parameter_overrides`` and ``namespace``.

    Attributes
    ----------
    parameters : dataclass
        The parameters as of the last configuration.
    is_configuring, is_configured, is_active : bool
    is_finished : bool
        Whether the process should end.
    stop_requested : bool
        Whether the node has been asked to come to rest and finish.
    exit_code : int
        With what code the process should end.

    Raises
    ------
    ConfigurationError
        If a parameter has another type or is out of range.

    """

    parameters: ParametersT

    def __init__(self, name: str, parameters_class: type[ParametersT], **options: Any) -> None:
        super().__init__(name, **options)
        self.is_configured = False
        self.is_configuring = False
        self.is_active = False
        self.is_finished = False
        self.exit_code = 0
        self._parameters_class = parameters_class
        self._pending: tuple[ParametersT, Callable[[], None]] | None = None
        self._last_waiting_log = time.monotonic()
        declare(self, parameters_class)
        self._warn_of_unknown_overrides()
        self.add_on_set_parameters_callback(self._judge_changes)
        self.add_post_set_parameters_callback(self._take_changes)
        self.diagnostics = DiagnosticsReporter(self)
        self.diagnostics.add('lifecycle', self._report_lifecycle)
        if self.get_parameter('use_sim_time').value:
            self.diagnostics.add('clock', ClockReport(self))
        self._heartbeat = steady_timer(self, HEARTBEAT, self._on_heartbeat)
        self._malformed = 0
        self._autostart = bool(self.get_parameter('autostart').value)
        self.stop_requested = False

    # What a node overrides.

    def prepare(self) -> None:
        """Get what all nodes of a kind need before `configure`; raise if it is wrong."""

    def configure(self) -> None:
        """Build what the node needs from `parameters`; raise if they are wrong."""

    def activate(self) -> None:
        """Begin to work; raise why not."""

    def deactivate(self) -> None:
        """Stop working, in a bounded time."""

    def cleanup(self) -> None:
        """Give up what `configure` built."""

    def prepare_change(self, parameters: ParametersT) -> Callable[[], None]:
        """Build what live changes ask for, or raise; what is returned puts it to use."""
        return lambda: None

    def waits_to_configure(self) -> str:
        """Return what configuration has to wait for, or an empty text."""
        return ''

    def waits_for(self) -> str:
        """Return what activation has to wait for, or an empty text."""
        return ''

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return the subscription that must not wait, or None; see `direct_loop`."""
        return None

    @property
    def unpolled_subscription(self) -> Subscription | None:
        """Return a subscription from which messages are taken only when they are needed."""
        return None

    def note_malformed(self) -> None:
        """Count a message whose bytes are no message of its topic's type."""
        self._malformed += 1

    def begin_stop(self) -> None:
        """Start to come to rest without blocking, on a signal to stop."""

    def is_at_rest(self) -> bool:
        """Whether nothing moves any more after `begin_stop`."""
        return True

    # Transitions.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters, and call `prepare` and `configure`."""
        self.is_configuring = True
        try:
            return self._guarded('configure', self._configure, state, super().on_configure)
        finally:
            self.is_configuring = False

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Call `activate`."""
        result = self._guarded('activate', self.activate, state, super().on_activate)
        self.is_active = result == TransitionCallbackReturn.SUCCESS
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Call `deactivate`; the node is inactive afterwards, whatever happens."""
        result = self._guarded('deactivate', self.deactivate, state, super().on_deactivate)
        self.is_active = False
        failed = result != TransitionCallbackReturn.SUCCESS
        return TransitionCallbackReturn.ERROR if failed else result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Call `cleanup`."""
        return self._guarded('cleanup', self._release, state, super().on_cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate and clean up as far as needed."""
        result = self._guarded('shutdown', self._release, state, super().on_shutdown)
        self.is_finished = True
        return result

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up everything and be unconfigured."""
        return self._guarded('recover from an error', self._release, state, super().on_error)

    def _guarded(
        self,
        what: str,
        action: Callable[[], None],
        state: LifecycleState,
        rest: Callable[[LifecycleState], TransitionCallbackReturn],
    ) -> TransitionCallbackReturn:
        try:
            action()
            return rest(state)
        except RobotDynamicsError as error:
            self.get_logger().error(f'cannot {what}: {" ".join(str(error).split())}')
        except Exception:
            # A signal may have broken into the compiler, which raises something of its own then.
            if not (self.is_configuring and self.stop_requested):
                self.get_logger().error(f'cannot {what}:\n{traceback.format_exc()}')
        return TransitionCallbackReturn.FAILURE

    def _configure(self) -> None:
        parameters = instance_of(self._parameters_class, values_of(self, self._parameters_class))
        self.parameters = parameters
        self.prepare()
        before = self._entities()
        try:
            self.configure()
        except BaseException:
            self._destroy_all_but(before)
            raise
        self.is_configured = True
        # What exists now stays; for the collector to walk over it again would take milliseconds.
        gc.collect()
        gc.freeze()

    def _entities(self) -> list[Any]:
        """Return all topics, services, clients and timers of the node."""
        return [
            *self.publishers,
            *self.subscriptions,
            *self.services,
            *self.clients,
            *self.timers,
        ]

    def _destroy_all_but(self, kept: list[Any]) -> None:
        for entity in self._entities():
            if any(entity is each for each in kept):
                continue
            for destroy in (
                self.destroy_publisher,
                self.destroy_subscription,
                self.destroy_service,
                self.destroy_client,
                self.destroy_timer,
            ):
                if destroy(entity):
                    break

    def _release(self) -> None:
        try:
            if self.is_active:
                self.is_active = False
                self.deactivate()
        finally:
            if self.is_configured:
                self.is_configured = False
                self.diagnostics.keep('lifecycle', 'clock')
                gc.unfreeze()
                self.cleanup()

    # Start and stop without a lifecycle manager.

    def request_stop(self) -> None:
        """Ask the node to come to rest and finish; may be called from a signal handler."""
        self.stop_requested = True
        self._autostart = False

    def finish(self) -> None:
        """Deactivate and clean up, whatever state the node is in."""
        try:
            self._release()
        except Exception:
            self.get_logger().error(f'cannot finish:\n{traceback.format_exc()}')

    def _on_heartbeat(self) -> None:
        if self._autostart and not self.is_active:
            self._start()

    def _start(self) -> None:
        """Go as far towards the active state as possible."""
        if not self.is_configured:
            reason = self.waits_to_configure()
            if reason:
                self._log_waiting(reason)
            elif self.trigger_configure() != TransitionCallbackReturn.SUCCESS:
                self._give_up()
            return
        reason = self.waits_for()
        if reason:
            self._log_waiting(reason)
        elif self.trigger_activate() == TransitionCallbackReturn.SUCCESS:
            self._autostart = False
            self.get_logger().info('active')
        else:
            self._give_up()

    def _give_up(self) -> None:
        self._autostart = False
        self.is_finished = True
        self.exit_code = 0 if self.stop_requested else 1

    def _log_waiting(self, reason: str) -> None:
        now = time.monotonic()
        if now - self._last_waiting_log >= _WAITING_LOG_PERIOD:
            self._last_waiting_log = now
            self.get_logger().info(f'waiting for {reason}')

    # Parameters.

    def _warn_of_unknown_overrides(self) -> None:
        for name in getattr(self, '_parameter_overrides', {}):
            if not self.has_parameter(name) and not name.startswith('qos_overrides'):
                self.get_logger().warning(f"there is no parameter '{name}'; it is ignored")

    def _judge_changes(self, changes: list[Parameter]) -> SetParametersResult:
        new = {change.name: change.value for change in changes}
        values = values_of(self, self._parameters_class)
        reason = refusal_of_changes(
            self._parameters_class, values, new, is_configured=self.is_configured
        )
        new = {name: value for name, value in new.items() if name in values}
        self._pending = None
        if not reason and new and self.is_configured:
            try:
                parameters = instance_of(self._parameters_class, {**values, **new})
                self._pending = (parameters, self.prepare_change(parameters))
            except RobotDynamicsError as error:
                reason = ' '.join(str(error).split())
        return SetParametersResult(successful=not reason, reason=reason)

    def _take_changes(self, changes: list[Parameter]) -> None:
        if self._pending is not None:
            self.parameters, commit = self._pending
            self._pending = None
            commit()

    # Diagnostics.

    def _report_lifecycle(self) -> Report:
        values = {'malformed messages': self._malformed}
        if self.is_active:
            return Report(Level.OK, 'active', values)
        return Report(Level.WARN, 'inactive' if self.is_configured else 'unconfigured', values)

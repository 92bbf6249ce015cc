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
The last stage before a torque leaves: limits, ramps, watchdog and faults as a state machine.

States::

    ready --arm--> ramping_up --> active --disarm--> ramping_down --> ready
                       |             |                    |
                       +-- stale state, bad number, fail -+---------> fault --reset--> ready

The wanted torque is first cut to the effort limit, joint by joint and without scaling the others.
On the way up the output blends from where it starts (zero, or the torque that acts already) to the
wanted torque, along ``3 s^2 - 2 s^3``. After `disarm` it blends from the wanted torque to zero,
after a fault from the last output to zero. When the joint states fail to come, the policy may
first blend to the last gravity torque and keep it for a grace time. After a change of the law the
difference to the torque of before fades out. Last, the change of the output since the previous one
is cut to the rate limit. Time is a float on a steady clock [s].

"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import any_true, as_vector, frozen, Vector
from robot_dynamics_ros.core.control.guard_settings import GuardSettings, StaleStatePolicy
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.exceptions import ArmingRefusedError, ConfigurationError

_LARGE = 1e300
_PERSISTENCE = 3
"""Number of states in a row that must violate a limit on the motion, so that no spike counts."""

__all__ = ['ArmingRefusedError', 'GuardResult', 'GuardSettings', 'GuardState', 'TorqueGuard']


class TorqueGuard:
    """
    Turn wanted torques into safe ones.

    Parameters
    ----------
    settings : GuardSettings

    Attributes
    ----------
    settings : GuardSettings
    state : GuardState
    reason : str
        Why the guard ramps down or is in fault, else empty.
    saturation_counts, rate_limit_counts : ndarray of int, shape (n,)
        Number of steps in which each joint was limited.

    """

    def __init__(self, settings: GuardSettings) -> None:
        n = len(settings.joint_names)
        self.settings = settings
        self.state = GuardState.READY
        self.reason = ''
        self.saturation_counts = np.zeros(n, dtype=np.int64)
        self.rate_limit_counts = np.zeros(n, dtype=np.int64)
        self._take_limits(settings)
        self._none = np.zeros(n, dtype=bool)
        self._none.setflags(write=False)
        self._tau = np.zeros(n)  # last output
        self._asked = np.zeros(n)  # last good wanted torque
        self._wanted = np.zeros(n)  # the same inside the limits
        self._saturated = self._none
        self._start = np.zeros(n)  # where the way up began
        self._weight = 0.0  # share of the wanted torque on the way up
        self._ramp_began = 0.0
        self._grace_began = 0.0
        self._hold: Vector | None = None  # torque of the grace time
        self._glide: Vector | None = None  # what fades out after a change of the law
        self._glide_began = -inf
        self._wants_glide = False
        self._violations = 0  # in a row
        self._last_step = 0.0
        self._last_wanted = 0.0
        self._ramp_is_over = False
        self._ends_in_fault = False
        self._is_stale = False

    def _take_limits(self, settings: GuardSettings) -> None:
        self._limit = settings.effort_limit
        self._negative_limit = -settings.effort_limit
        self._bound = np.nan_to_num(settings.effort_limit, nan=inf, posinf=inf)
        self._rate = np.minimum(settings.effort_rate_limit, _LARGE)

    def arm(
        self,
        now: float,
        state_age: float,
        start: Any = None,
        q: Any = None,
        v: Any = None,
    ) -> None:
        """
        Start to ramp up.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].
        state_age : float
            Age of the oldest joint state [s]; inf while one is missing.
        start : array_like, shape (n,), optional
            Torque that acts on the robot now, to start from [N m | N]; zero if None, and for
            entries that are not finite.
        q, v : array_like, shape (n,), optional
            The state, which must be inside the limits on it [rad | m, rad/s | m/s].

        Raises
        ------
        ArmingRefusedError
            If an effort limit is not stated, the state is missing, stale, outside its limits or
            moving too fast, or the guard is in fault or already armed. During the ramp down after
            `disarm` arming is allowed and starts from the present torque.

        """
        settings = self.settings
        settings.require_stated_limits()
        if self.state is GuardState.FAULT or self._ends_in_fault:
            raise ArmingRefusedError(f'in fault ({self.reason}); reset first')
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            raise ArmingRefusedError('already armed')
        if not state_age <= settings.state_timeout:
            age = 'not complete yet' if state_age == inf else f'{state_age:.3f} s old'
            raise ArmingRefusedError(
                f'the joint state is {age}; it must be no older than {settings.state_timeout:g} s'
            )
        limits = settings.state_limits
        if limits is not None and q is not None:
            obstacle = limits.obstacle(q, np.zeros_like(q) if v is None else v)
            if obstacle:
                raise ArmingRefusedError(obstacle)
        if self.state is GuardState.READY:
            self._tau = self._start_torque(start)
            self._asked = self._tau.copy()
            self._wanted = self._tau.copy()
            self._saturated = self._none
            self._last_step = now
            self._glide, self._wants_glide = None, False
        self._last_wanted = now
        self._ramp_up(now)

    def _start_torque(self, start: Any) -> Vector:
        n = len(self._none)
        if start is None:
            return np.zeros(n)
        tau = as_vector('start', start, n)
        # Of joints without a stated limit nothing is known that would be safe.
        tau = np.where(np.isfinite(tau) & np.isfinite(self._limit), tau, 0.0)
        return np.nan_to_num(np.clip(tau, self._negative_limit, self._limit))

    def _ramp_up(self, now: float) -> None:
        self.state = GuardState.RAMPING_UP
        self.reason = ''
        self._is_stale = self._ramp_is_over = False
        self._hold = None
        self._violations = 0
        self._start = self._tau.copy()
        self._weight = 0.0
        self._ramp_began = now

    def disarm(self, now: float, reason: str = 'deactivated') -> None:
        """
        Start to ramp down to the ready state.

        A grace time ends. Nothing happens if no torque is commanded.

        """
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            self._ramp_down(now, reason, ends_in_fault=False)
        elif self.state is GuardState.RAMPING_DOWN:
            self._is_stale = False  # so that nothing ramps it up again
            if now < self._ramp_began:
                self._ramp_down(now, self.reason, ends_in_fault=True)

    def fail(self, now: float, reason: str, tau: Any = None) -> None:
        """
        Ramp down to the fault state, or go there at once if ready; the first reason counts.

        A grace time ends.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].
        reason : str
            What is wrong.
        tau : array_like, shape (n,), optional
            What the robot is commanded now, if that is not the last output [N m | N].

        """
        if tau is not None:
            self.continue_from(now, tau)
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            self._ramp_down(now, reason, ends_in_fault=True)
        elif self.state is GuardState.RAMPING_DOWN:
            self._is_stale = False
            if now < self._ramp_began:
                self._ramp_down(now, self.reason, ends_in_fault=True)
            elif not self._ends_in_fault:
                self._fail_on_the_way_down(now, reason)
        elif self.state is GuardState.READY:
            self.state = GuardState.FAULT
            self.reason = reason

    def continue_from(self, now: float, tau: Any) -> None:
        """
        Take note that the robot under torque is commanded something else than the last output.

        The next output begins there.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].
        tau : array_like, shape (n,)
            What somebody else has commanded [N m | N].

        """
        if self.state.is_commanding:
            self._tau = self._start_torque(tau)
            self._last_step = now

    def let_go(self, reason: str) -> None:
        """
        Go to the fault state at once, without a word: somebody else has the robot.

        Only for when it is not known what the robot is commanded now, so that any output could be
        a step.

        Parameters
        ----------
        reason : str
            What is wrong.

        """
        if self.state.is_commanding:
            self._tau = np.zeros_like(self._tau)
            self._hold = None
            self._ends_in_fault, self.reason = True, reason
            self._arrive()

    def _fail_on_the_way_down(self, now: float, reason: str) -> None:
        """Go on down from the last output, to end when it was promised, without a law."""
        self._ends_in_fault, self.reason = True, reason
        left = 1.0 - _smooth(now - self._ramp_began, self.settings.ramp_down_time)
        self._start = self._tau / left if left > 1e-6 else np.zeros_like(self._tau)
        self._weight = 0.0

    def _ramp_down(self, now: float, reason: str, *, ends_in_fault: bool) -> None:
        self.state = GuardState.RAMPING_DOWN
        self.reason = reason
        self._ramp_is_over = False
        self._ends_in_fault = ends_in_fault
        self._ramp_began = now
        self._hold = None
        if ends_in_fault:
            self._start = self._tau.copy()
            self._weight = 0.0

    def take_over(
        self, now: float, tau: Any, reason: str, tau_gravity: Vector | None = None
    ) -> None:
        """
        Bring down a torque that somebody else has left behind.

        It is treated like a stale state: from the torque as it is, by the policy, to a fault.
        Nothing happens unless the guard is ready.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].
        tau : array_like, shape (n,)
            The torque that was commanded last [N m | N].
        reason : str
            Why it is brought down.
        tau_gravity : ndarray, shape (n,), optional
            As in `step`.

        """
        if self.state is not GuardState.READY:
            return
        self._tau = self._start_torque(tau)
        self._wanted = self._tau.copy()
        self._last_step = now
        self._ramp_down(now, reason, ends_in_fault=True)
        self._hold_gravity(now, tau_gravity)

    def reset(self) -> None:
        """Leave the fault state for the ready one; nothing happens in other states."""
        if self.state is GuardState.FAULT:
            self.state = GuardState.READY
            self.reason = ''

    def watch_state(self, q: Vector, v: Vector, now: float) -> None:
        """
        Fail if the robot under torque is beyond a limit on its motion, in three states in a row.

        Parameters
        ----------
        q, v : ndarray, shape (n,)
            Measured positions and velocities [rad | m, rad/s | m/s].
        now : float
            Time on the steady clock [s].

        """
        limits = self.settings.state_limits
        if limits is None:
            return
        violation = limits.violation(q, v)
        if not violation:
            self._violations = 0
            return
        self._violations += 1
        if self._violations >= _PERSISTENCE:
            self.fail(now, violation)

    def glide(self) -> None:
        """Let what the next wanted torque differs by from the last one fade out, not jump."""
        self._wants_glide = True

    def step(
        self,
        tau_wanted: Vector | None,
        now: float,
        state_age: float,
        tau_gravity: Vector | None = None,
    ) -> GuardResult:
        """
        Make the torque of this cycle.

        Parameters
        ----------
        tau_wanted : ndarray, shape (n,), or None
            Torque of the control law [N m | N]; None when there is none, as while the state is
            stale. A number that is not finite is a fault.
        now : float
            Time on the steady clock [s].
        state_age : float
            Age of the oldest joint state [s].
        tau_gravity : ndarray, shape (n,), optional
            Torque that holds the robot up where it was seen last [N m | N], for the grace time
            when the state is stale; without one, or if it is not finite, there is no grace. During
            the grace time a new one replaces the last.

        Returns
        -------
        result : GuardResult

        Raises
        ------
        DimensionError
            If `tau_wanted` does not have one entry per joint.

        """
        if not self.state.is_commanding:
            tau = np.zeros(len(self._none))
            return GuardResult(tau, self.state, self._none, self._none, False, self.reason)
        if self._hold is not None and tau_gravity is not None and now < self._ramp_began:
            if np.isfinite(tau_gravity).all():
                self._hold = self._start_torque(tau_gravity)
        self._watch(tau_wanted, now, state_age, tau_gravity)
        tau = self._blend(now)
        largest = self._rate * min(max(now - self._last_step, 0.0), self.settings.longest_step)
        change = tau - self._tau
        rate_limited = abs(change) > largest
        if any_true(rate_limited):
            tau = self._inside(self._tau + np.clip(change, -largest, largest))
            self.rate_limit_counts += rate_limited
        self._tau = tau
        self._last_step = now
        if self._ramp_is_over and not any_true(tau != 0.0):
            self._arrive()
        return GuardResult(
            tau.copy(), self.state, self._saturated, rate_limited, True, self.reason
        )

    def _watch(
        self,
        tau_wanted: Vector | None,
        now: float,
        state_age: float,
        tau_gravity: Vector | None,
    ) -> None:
        """Take in the wanted torque if it is good and the state fresh; else start to ramp down."""
        settings = self.settings
        if not state_age <= settings.state_timeout:
            if self.state is not GuardState.RAMPING_DOWN:
                self._ramp_down(now, f'joint state is {state_age:.3f} s old', ends_in_fault=True)
                self._hold_gravity(now, tau_gravity)
                self._is_stale = True
            return
        if tau_wanted is None:
            silence = now - self._last_wanted
            if silence > settings.state_timeout and self.state is not GuardState.RAMPING_DOWN:
                self.fail(now, f'no wanted torque for {silence:.3f} s')
            return
        wanted = as_vector('tau_wanted', tau_wanted, len(self._none))
        if not all(map(isfinite, wanted.tolist())):
            self.fail(now, 'the wanted torque is not finite')
            return
        if self._wants_glide:
            self._wants_glide = False
            self._glide, self._glide_began = self._asked - wanted, now
        if self._glide is not None:
            wanted = self._gliding(wanted, now)
        self._asked[:] = wanted
        self._wanted = np.minimum(np.maximum(wanted, self._negative_limit), self._limit)
        self._saturated = self._wanted != wanted
        if any_true(self._saturated):
            self.saturation_counts += self._saturated
        self._last_wanted = now
        if self._is_stale and settings.recover_from_stale_state and not self._violations:
            self._ends_in_fault = False
            self._ramp_up(now)

    def _hold_gravity(self, now: float, tau_gravity: Vector | None) -> None:
        """Put the grace time before the ramp down, if the policy has one."""
        settings = self.settings
        if (
            settings.stale_state_policy is not StaleStatePolicy.HOLD_GRAVITY
            or settings.grace_time == 0.0
            or tau_gravity is None
            or not np.isfinite(tau_gravity).all()
        ):
            return
        self._hold = self._start_torque(tau_gravity)
        self._grace_began, self._ramp_began = now, now + settings.grace_time
        self.reason += f'; holding the gravity torque for {settings.grace_time:g} s'

    def _gliding(self, wanted: Vector, now: float) -> Vector:
        """Return the wanted torque with what is left of the change."""
        s = _smooth(now - self._glide_began, self.settings.glide_time)
        if self._glide is None or s >= 1.0:
            self._glide = None
            return wanted
        return wanted + (1.0 - s) * self._glide

    def _blend(self, now: float) -> Vector:
        """Return the torque of the ramp, or the wanted one; note whether a way down is over."""
        if self.state is GuardState.ACTIVE:
            return self._wanted
        up = self.state is GuardState.RAMPING_UP
        duration = self.settings.ramp_up_time if up else self.settings.ramp_down_time
        s = _smooth(now - self._ramp_began, duration)
        if up:
            self._weight = s
            if s >= 1.0:
                self.state = GuardState.ACTIVE
                return self._wanted
        blend = self._start + self._weight * (self._wanted - self._start)
        if up:
            return self._inside(blend)
        if self._hold is not None:
            time = min(duration, self.settings.grace_time)
            held = _smooth(min(now, self._ramp_began) - self._grace_began, time)
            blend = blend + held * (self._hold - blend)
        self._ramp_is_over = now - self._ramp_began >= duration
        return self._inside((1.0 - s) * blend)

    def _inside(self, tau: Vector) -> Vector:
        """Return the torque without what rounding has put beyond a limit."""
        inside: Vector = np.minimum(np.maximum(tau, -self._bound), self._bound)
        return inside

    def _arrive(self) -> None:
        """End the way down at zero torque."""
        self.state = GuardState.FAULT if self._ends_in_fault else GuardState.READY
        self.reason = self.reason if self._ends_in_fault else ''
        self._ramp_is_over = self._ends_in_fault = self._is_stale = False

    def change_settings(self, settings: GuardSettings) -> None:
        """
        Go on with other limits and times; a torque beyond a smaller limit is cut to it at once.

        Raises
        ------
        ConfigurationError
            If the joints are others, or a limit is not stated while commanding.

        """
        if settings.joint_names != self.settings.joint_names:
            raise ConfigurationError('the joints of a torque guard cannot change')
        if settings.unstated_limits and self.state.is_commanding:
            raise ConfigurationError(f'no effort limit for {", ".join(settings.unstated_limits)}')
        self.settings = settings
        self._take_limits(settings)
        if self.state.is_commanding:
            for name in ('_tau', '_wanted', '_start'):
                clipped = np.clip(getattr(self, name), self._negative_limit, self._limit)
                setattr(self, name, clipped)
            if self._hold is not None:
                self._hold = np.clip(self._hold, self._negative_limit, self._limit)

    def saturation_report(self, result: GuardResult) -> str:
        """Return a line such as 'cannot hold j1: 9.81 wanted, limit 5', or an empty text."""
        if not result.saturated.any():
            return ''
        names = self.settings.joint_names
        return 'cannot hold ' + ', '.join(
            f'{names[i]}: {self._asked[i]:.4g} wanted, limit {self._limit[i]:.4g}'
            for i in np.flatnonzero(result.saturated)
        )

    @property
    def is_recovering(self) -> bool:
        """Whether the next wanted torque ends a ramp down for want of states."""
        return self._is_stale and self.settings.recover_from_stale_state

    @property
    def tau(self) -> Vector:
        """Return the last torque that went out, shape (n,), a read-only copy."""
        return frozen(self._tau)


def _smooth(time: float, duration: float) -> float:
    """Return ``3 s^2 - 2 s^3`` of the share `s` of the duration that is over, 0 to 1."""
    s = min(max(time, 0.0) / duration, 1.0) if duration > 0.0 else float(time >= 0.0)
    return s * s * (3.0 - 2.0 * s)

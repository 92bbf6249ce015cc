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

    idle --arm--> ramping_up --> active --disarm--> ramping_down --> idle
                      |             |                    |
                      +-- stale state, bad number, fail -+---------> fault --reset--> idle

The wanted torque is first cut to the effort limit, joint by joint and without scaling the others.
On the way up the output blends from where it starts (zero or the measured effort) to the wanted
torque, along ``3 s^2 - 2 s^3``. After `disarm` it blends from the wanted torque to zero, after a
fault from the last output to zero. Last, its change since the previous output is cut to the rate
limit. Time is a float on a steady clock [s].

"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_vector, frozen, Vector
from robot_dynamics_ros.core.control.guard_settings import GuardSettings
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.exceptions import ArmingRefusedError, ConfigurationError

_LARGE = 1e300

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
        self.state = GuardState.IDLE
        self.reason = ''
        self.saturation_counts = np.zeros(n, dtype=np.int64)
        self.rate_limit_counts = np.zeros(n, dtype=np.int64)
        self._limit = settings.effort_limit
        self._negative_limit = -settings.effort_limit
        self._rate = np.minimum(settings.effort_rate_limit, _LARGE)
        self._none = np.zeros(n, dtype=bool)
        self._none.setflags(write=False)
        self._tau = np.zeros(n)  # last output
        self._asked = np.zeros(n)  # last good wanted torque
        self._wanted = np.zeros(n)  # the same inside the limits
        self._saturated = self._none
        self._start = np.zeros(n)  # where the way up began
        self._weight = 0.0  # share of the wanted torque on the way up
        self._ramp_began = 0.0
        self._last_step = 0.0
        self._last_wanted = 0.0
        self._ramp_is_over = False
        self._ends_in_fault = False
        self._is_stale = False

    def arm(self, now: float, state_age: float, measured_effort: Any = None) -> None:
        """
        Start to ramp up.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].
        state_age : float
            Age of the oldest joint state [s]; inf while one is missing.
        measured_effort : array_like, shape (n,), optional
            Torque to start from [N m | N]; zero if None, and for entries that are not finite.

        Raises
        ------
        ArmingRefusedError
            If an effort limit is not stated, the state is missing or stale, or the guard is in
            fault or already armed. During the ramp down after `disarm` arming is allowed and
            starts from the present torque.

        """
        settings = self.settings
        if settings.unstated_limits:
            raise ArmingRefusedError(
                'no effort limit is stated for '
                + ', '.join(settings.unstated_limits)
                + '; give one by parameter or in the robot description'
            )
        if self.state is GuardState.FAULT or self._ends_in_fault:
            raise ArmingRefusedError(f'in fault ({self.reason}); reset first')
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            raise ArmingRefusedError('already armed')
        if not state_age <= settings.state_timeout:
            age = 'not complete yet' if state_age == inf else f'{state_age:.3f} s old'
            raise ArmingRefusedError(
                f'the joint state is {age}; it must be no older than {settings.state_timeout:g} s'
            )
        if self.state is GuardState.IDLE:
            self._tau = self._start_torque(measured_effort)
            self._asked = self._tau.copy()
            self._wanted = self._tau.copy()
            self._saturated = self._none
            self._last_step = now
        self._last_wanted = now
        self._ramp_up(now)

    def _start_torque(self, measured_effort: Any) -> Vector:
        n = len(self._none)
        if measured_effort is None:
            return np.zeros(n)
        start = as_vector('measured_effort', measured_effort, n)
        start = np.where(np.isfinite(start), start, 0.0)
        return np.clip(start, self._negative_limit, self._limit)

    def _ramp_up(self, now: float) -> None:
        self.state = GuardState.RAMPING_UP
        self.reason = ''
        self._is_stale = False
        self._start = self._tau.copy()
        self._weight = 0.0
        self._ramp_began = now

    def disarm(self, now: float, reason: str = 'deactivated') -> None:
        """Start to ramp down to idle; nothing happens unless the guard is ramping up or active."""
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            self._ramp_down(now, reason, ends_in_fault=False)

    def fail(self, now: float, reason: str) -> None:
        """Ramp down to the fault state, or go there at once if idle; the first reason counts."""
        if self.state in (GuardState.RAMPING_UP, GuardState.ACTIVE):
            self._ramp_down(now, reason, ends_in_fault=True)
        elif self.state is GuardState.RAMPING_DOWN:
            if not self._ends_in_fault:
                self._ramp_down(now, reason, ends_in_fault=True)
            self._is_stale = False
        elif self.state is GuardState.IDLE:
            self.state = GuardState.FAULT
            self.reason = reason

    def _ramp_down(self, now: float, reason: str, *, ends_in_fault: bool) -> None:
        self.state = GuardState.RAMPING_DOWN
        self.reason = reason
        self._ramp_is_over = False
        self._ends_in_fault = ends_in_fault
        self._ramp_began = now
        if ends_in_fault:
            self._start = self._tau.copy()
            self._weight = 0.0

    def reset(self) -> None:
        """Leave the fault state for idle; nothing happens in other states."""
        if self.state is GuardState.FAULT:
            self.state = GuardState.IDLE
            self.reason = ''

    def step(self, tau_wanted: Vector | None, now: float, state_age: float) -> GuardResult:
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
        self._watch(tau_wanted, now, state_age)
        tau = self._blend(now)
        largest = self._rate * min(max(now - self._last_step, 0.0), self.settings.longest_step)
        change = tau - self._tau
        rate_limited = abs(change) > largest
        if _any(rate_limited):
            tau = self._tau + np.clip(change, -largest, largest)
            self.rate_limit_counts += rate_limited
        self._tau = tau
        self._last_step = now
        if self._ramp_is_over and not _any(tau != 0.0):
            self._arrive()
        return GuardResult(
            tau.copy(), self.state, self._saturated, rate_limited, True, self.reason
        )

    def _watch(self, tau_wanted: Vector | None, now: float, state_age: float) -> None:
        """Take in the wanted torque if it is good and the state fresh; else start to ramp down."""
        settings = self.settings
        if not state_age <= settings.state_timeout:
            if self.state is not GuardState.RAMPING_DOWN:
                self._ramp_down(now, f'joint state is {state_age:.3f} s old', ends_in_fault=True)
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
        self._asked[:] = wanted
        self._wanted = np.minimum(np.maximum(wanted, self._negative_limit), self._limit)
        self._saturated = self._wanted != wanted
        if _any(self._saturated):
            self.saturation_counts += self._saturated
        self._last_wanted = now
        if self._is_stale and settings.recover_from_stale_state:
            self._ends_in_fault = False
            self._ramp_up(now)

    def _blend(self, now: float) -> Vector:
        """Return the torque of the ramp, or the wanted one; note whether a way down is over."""
        if self.state is GuardState.ACTIVE:
            return self._wanted
        up = self.state is GuardState.RAMPING_UP
        duration = self.settings.ramp_up_time if up else self.settings.ramp_down_time
        way = max(now - self._ramp_began, 0.0) / duration if duration > 0.0 else 1.0
        s = min(way, 1.0)
        s *= s * (3.0 - 2.0 * s)
        if up:
            self._weight = s
            if way >= 1.0:
                self.state = GuardState.ACTIVE
                return self._wanted
        blend = self._start + self._weight * (self._wanted - self._start)
        if up:
            return blend
        self._ramp_is_over = way >= 1.0
        return (1.0 - s) * blend

    def _arrive(self) -> None:
        """End the way down at zero torque."""
        self.state = GuardState.FAULT if self._ends_in_fault else GuardState.IDLE
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
        self._limit = settings.effort_limit
        self._negative_limit = -settings.effort_limit
        self._rate = np.minimum(settings.effort_rate_limit, _LARGE)
        if self.state.is_commanding:
            for name in ('_tau', '_wanted', '_start'):
                clipped = np.clip(getattr(self, name), self._negative_limit, self._limit)
                setattr(self, name, clipped)

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
    def tau(self) -> Vector:
        """Return the last torque that went out, shape (n,), a read-only copy."""
        return frozen(self._tau)


def _any(mask: NDArray[np.bool_]) -> bool:
    """Return ``mask.any()``, which would cost four times as much for a few joints."""
    return b'\x01' in mask.tobytes()

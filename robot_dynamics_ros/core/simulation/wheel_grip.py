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

r"""
Grip and slip of the two wheels of a differential drive.

The slips of the wheels change by :math:`\dot s = s_0 - A F` with a positive definite matrix `A`,
so the tractions of wheels without slip are the unique solution of a complementarity problem: a
wheel grips, :math:`\dot s_i = 0` with :math:`|F_i| \le \mu N`, or it starts to slip, :math:`F_i =
\mu N\, \mathrm{sign}(\dot s_i)`. With two wheels there are nine cases, which are tried.

Within a step every wheel keeps its mode - gripping, or slipping forward or backward - as long as
that fits. The instant at which it no longer does is found and the step is divided there. Between
such instants the motion is smooth and the classical Runge-Kutta method has its order. The slip of
a gripping wheel is zero but for the rounding of a product. Steps that are long for the viscous
friction or for the turn of the base are divided, too.

"""

from __future__ import annotations

from itertools import product
from math import cos, inf, sin, sqrt
from typing import TYPE_CHECKING

from scipy.optimize import brentq

if TYPE_CHECKING:
    from robot_dynamics_ros.core.simulation.differential_drive import DifferentialDrive

_MOST_EVENTS = 50
"""Changes between grip and slip in one step; each takes some time, so a few are all there are."""

_SHORTEST = 1e-4
"""Part of a step below which it is not divided for accuracy."""

Modes = tuple[int, int]
"""For each wheel 0 if it grips, or the sign of its slip."""

Pair = tuple[float, float]

State = tuple[float, ...]
"""x, y, heading, two wheel angles, two wheel rates, forward speed and yaw rate."""


class WheelGrip:
    """
    Motion of a base on two wheels, with the tractions that fit.

    Parameters
    ----------
    drive : DifferentialDrive
        The parameters.

    """

    def __init__(self, drive: DifferentialDrive) -> None:
        self.drive = drive
        turn = 0.25 * drive.track**2 / drive.yaw_inertia
        wheel = drive.wheel_radius**2 / drive.wheel_inertia
        self._own = wheel + 1.0 / drive.mass + turn  # the entries of A [1/kg]
        self._cross = 1.0 / drive.mass - turn

    def advance(self, y: State, torques: Pair, dt: float) -> tuple[State, Modes]:
        """Return state and modes after `dt` [s] under held torques [N m]."""
        if self.drive.grip == inf:
            y = self._without_slip(self._caught(y), (0, 0))
        modes = self.modes(y, torques)
        remaining, events = dt, 0
        while remaining > 0.0:
            piece = min(remaining, max(self._longest(y, torques, modes), _SHORTEST * dt))
            if events < _MOST_EVENTS:
                passed, y, modes = self._until_event(y, torques, modes, piece)
            else:
                passed, y = piece, self._smooth(y, torques, modes, piece)
            events += passed < piece
            remaining -= passed
        return y, modes

    def _longest(self, y: State, torques: Pair, modes: Modes) -> float:
        """Return a step in which friction and turn change the rates by a tenth [s]."""
        drive = self.drive
        longest = inf
        if drive.viscous > 0.0:
            borne = min(0.5 * drive.mass, 2.0 * drive.yaw_inertia / drive.track**2)
            inertia = drive.wheel_inertia
            if modes == (0, 0):
                inertia += borne * drive.wheel_radius**2
            longest = 0.1 * inertia / drive.viscous
        turn = self.rates(y, torques, self.tractions(y, torques, modes))[8]
        for rate in (abs(y[8]), sqrt(abs(turn))):
            longest = min(longest, 0.1 / rate if rate > 0.0 else inf)
        return longest

    # ------------------------------------------------------------------ slip and traction

    def slips(self, left: float, right: float, u: float, yaw_rate: float) -> Pair:
        """Return the slips from wheel rates, forward speed and yaw rate [m/s]."""
        r, half = self.drive.wheel_radius, 0.5 * self.drive.track * yaw_rate
        return r * left - (u - half), r * right - (u + half)

    def tractions(self, y: State, torques: Pair, modes: Modes) -> Pair:
        """Return the tractions that the modes mean; those of gripping wheels stop the slip."""
        grip, own, cross = self.drive.grip, self._own, self._cross
        first = modes[0] * grip if modes[0] else 0.0
        second = modes[1] * grip if modes[1] else 0.0
        if modes[0] and modes[1]:
            return first, second
        free = self._free_slip_rates(y, torques)
        if modes[0]:
            return first, (free[1] - cross * first) / own
        if modes[1]:
            return (free[0] - cross * second) / own, second
        return self._stopped(free)

    def modes(self, y: State, torques: Pair) -> Modes:
        """Return the modes that fit the slips, and their rates where there is no slip."""
        grip, own, cross = self.drive.grip, self._own, self._cross
        if grip == inf:
            return 0, 0
        # What rounding leaves of the speeds is no slip.
        rounding = 1e-14 * (abs(y[7]) + self.drive.track * abs(y[8]))
        slips = self.slips(*y[5:])
        choices = [
            (0, 1, -1) if abs(slip) <= rounding else ((1,) if slip > 0.0 else (-1,))
            for slip in slips
        ]
        free = self._free_slip_rates(y, torques)
        best, least = (choices[0][0], choices[1][0]), inf
        for left, right in product(*choices):
            forces = self.tractions(y, torques, (left, right))
            rates = (
                free[0] - own * forces[0] - cross * forces[1],
                free[1] - own * forces[1] - cross * forces[0],
            )
            wrong = 0.0
            for mode, force, rate, open_ones in zip((left, right), forces, rates, choices):
                if mode == 0:
                    wrong += max(0.0, abs(force) - grip)
                elif len(open_ones) > 1:
                    wrong += max(0.0, -mode * rate / own)
            if wrong < least:
                best, least = (left, right), wrong
        return best

    def _free_slip_rates(self, y: State, torques: Pair) -> Pair:
        """Return the rates of the slips without traction [m/s^2]."""
        return self.slips(*self.rates(y, torques, (0.0, 0.0))[5:])

    def _stopped(self, slips: Pair) -> Pair:
        """Return the solution of ``A F = slips``."""
        own, cross = self._own, self._cross
        determinant = own * own - cross * cross
        return (
            (own * slips[0] - cross * slips[1]) / determinant,
            (own * slips[1] - cross * slips[0]) / determinant,
        )

    def _caught(self, y: State) -> State:
        """Return the state after the impulses that stop all slip."""
        drive = self.drive
        left, right = self._stopped(self.slips(*y[5:]))
        wheel = drive.wheel_radius / drive.wheel_inertia
        return (
            *y[:5],
            y[5] - wheel * left,
            y[6] - wheel * right,
            y[7] + (left + right) / drive.mass,
            y[8] + 0.5 * drive.track * (right - left) / drive.yaw_inertia,
        )

    # ------------------------------------------------------------------ motion

    def rates(self, y: State, torques: Pair, tractions: Pair) -> State:
        """Return the time derivative of the state."""
        drive = self.drive
        left, right, u, yaw_rate = y[5:]
        along = drive.mass * drive.com_offset * yaw_rate
        force, difference = tractions[0] + tractions[1], tractions[1] - tractions[0]
        r, c = drive.wheel_radius, drive.viscous
        return (
            u * cos(y[2]),
            u * sin(y[2]),
            yaw_rate,
            left,
            right,
            (torques[0] - c * left - r * tractions[0]) / drive.wheel_inertia,
            (torques[1] - c * right - r * tractions[1]) / drive.wheel_inertia,
            (along * yaw_rate + force) / drive.mass,
            (0.5 * drive.track * difference - along * u) / drive.yaw_inertia,
        )

    def _smooth(self, y: State, torques: Pair, modes: Modes, dt: float) -> State:
        """Return the state after `dt` in given modes (classical Runge-Kutta method)."""

        def rate(state: State) -> State:
            return self.rates(state, torques, self.tractions(state, torques, modes))

        k1 = rate(y)
        k2 = rate(_moved(y, k1, 0.5 * dt))
        k3 = rate(_moved(y, k2, 0.5 * dt))
        k4 = rate(_moved(y, k3, dt))
        mean = tuple((a + 2.0 * (b + c) + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4))
        return self._without_slip(_moved(y, mean, dt), modes)

    def _without_slip(self, y: State, modes: Modes) -> State:
        """Return the state with the rates of gripping wheels taken from the ground."""
        r, half = self.drive.wheel_radius, 0.5 * self.drive.track * y[8]
        left = y[5] if modes[0] else (y[7] - half) / r
        right = y[6] if modes[1] else (y[7] + half) / r
        return (*y[:5], left, right, *y[7:])

    def _margin(self, y: State, torques: Pair, modes: Modes, k: int) -> float:
        """Return a number that is negative where the mode of wheel `k` no longer fits."""
        if modes[k]:
            return modes[k] * self.slips(*y[5:])[k]
        return self.drive.grip - abs(self.tractions(y, torques, modes)[k])

    def _until_event(
        self, y: State, torques: Pair, modes: Modes, dt: float
    ) -> tuple[float, State, Modes]:
        """Return the time passed, at most `dt`, the state then, and the modes from then on."""
        end = self._smooth(y, torques, modes, dt)
        first, which = dt, -1
        for k in range(2):
            if not self._margin(end, torques, modes, k) < 0.0:
                continue

            def margin(t: float, k: int = k) -> float:
                return self._margin(self._smooth(y, torques, modes, t), torques, modes, k)

            starts_wrong = not self._margin(y, torques, modes, k) > 0.0
            time = 0.0 if starts_wrong else float(brentq(margin, 0.0, dt, xtol=1e-14 * dt))
            if which < 0 or time < first:
                first, which = time, k
        if which < 0:
            return dt, end, modes
        there = self._smooth(y, torques, modes, first) if first > 0.0 else y
        if modes[which]:  # it has caught the ground: the rate decides what follows
            caught = (0, modes[1]) if which == 0 else (modes[0], 0)
            there = self._without_slip(there, caught)
            return first, there, self.modes(there, torques)
        spins = 1 if self.tractions(there, torques, modes)[which] > 0.0 else -1
        return first, there, (spins, modes[1]) if which == 0 else (modes[0], spins)


def _moved(y: State, rates: State, dt: float) -> State:
    return tuple(value + dt * rate for value, rate in zip(y, rates))

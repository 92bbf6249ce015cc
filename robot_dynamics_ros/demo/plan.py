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
What the demonstration does: which runs, with which gains, and for how long each phase lasts.

Every law gets the same gains. Those of computed torque give accelerations, not torques, so they
are divided by the inertia that a joint feels on average over the motions: on average its stiffness
is the same, too.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.dynamics import crba
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.trajectory.scenarios import Scenario, scenario

PICK_PLACE = scenario('pick_place')
AGGRESSIVE = scenario('aggressive', amplitude=0.9, time_scale=4.0)
"""As written it needs twice the effort limits."""

TITLES = {
    PICK_PLACE: 'pick_place',
    AGGRESSIVE: 'aggressive (0.9 x, in 4 x the time)',
}

LAWS = {
    'pd': 'PD alone',
    'pd_gravity': 'PD + gravity',
    'pd_feedforward': 'PD + feedforward',
    'computed_torque': 'computed torque',
}
"""Control modes of the node, and what people call them."""

POINT_PERIOD = 0.01
"""Between two points of the reference, which is splined through them [s]."""

_JUMP_PERIOD = 0.001
"""How long before a step of the acceleration there is one more point [s]."""

_STEP = 0.1
"""What counts as a step, over the largest acceleration."""

_N_POSTURES = 50

WANTED_RATIO = 50.0
"""By what factor feedforward must cut the largest error of PD alone, without friction."""


@dataclass(frozen=True)
class Run:
    """
    One motion under one law.

    Attributes
    ----------
    motion : Scenario
        What the arm shall do.
    mode : str
        Control mode, a key of `LAWS`.
    has_friction : bool
        Whether the simulated joints have friction; the controller is never told.

    """

    motion: Scenario
    mode: str
    has_friction: bool

    @property
    def group(self) -> str:
        """Title of the runs that this one is compared with."""
        return f'{TITLES[self.motion]}, {"unknown" if self.has_friction else "no"} friction'

    @property
    def label(self) -> str:
        """Return what runs, for progress and for the bag."""
        return f'{self.group}: {LAWS[self.mode]}'


def plan_runs(quick: bool) -> list[Run]:
    """Return the runs in their order; a quick demonstration leaves the aggressive motion out."""
    motions = [PICK_PLACE] if quick else [PICK_PLACE, AGGRESSIVE]
    runs = [Run(PICK_PLACE, mode, False) for mode in ('pd', 'pd_feedforward')]
    return runs + [Run(motion, mode, True) for motion in motions for mode in LAWS]


@dataclass(frozen=True)
class Phases:
    """
    How long the phases of a run last, in simulated time except for the ramps [s].

    Attributes
    ----------
    ramp_up, ramp_down : float
        Ramps of the controller's torque, on its steady clock.
    brake_release : float
        From the first command to the release of the brakes, so that the ramp is over by then.
    lead : float
        From activation to the begin of the motion; the arm settles after the brakes are released.
    tail : float
        From the end of the motion to the ramp down.

    """

    ramp_up: float
    ramp_down: float
    brake_release: float
    lead: float
    tail: float = 0.1


@dataclass(frozen=True)
class Pace:
    """
    How time passes in a run.

    Attributes
    ----------
    rate : float
        Joint states, and commands, per second of simulated time [Hz].
    is_lockstep : bool
        Whether each step of the plant waits for a command, so that the result does not depend on
        what else the machine does; else time runs by itself.

    """

    rate: float
    is_lockstep: bool

    def __str__(self) -> str:
        return f'{self.rate:g} Hz {"lockstep" if self.is_lockstep else "real time"}'

    @property
    def phases(self) -> Phases:
        """How long the phases of a run last."""
        return _LOCKSTEP if self.is_lockstep else _REAL_TIME


def real_time_pace(exchange_rate: float) -> Pace:
    """
    Return the pace that a machine keeps up with.

    Parameters
    ----------
    exchange_rate : float
        How many states and commands it exchanges per second in lockstep [Hz].

    """
    for rate in REAL_TIME_RATES:
        if exchange_rate >= LEAST_EXCHANGE * rate:
            return Pace(rate, is_lockstep=False)
    return LOCKSTEP


REAL_TIME_RATES = (1000.0, 500.0)
"""What real time is tried at [Hz]."""

LEAST_EXCHANGE = 0.6
"""
Rate of the exchange in lockstep that real time needs, over its rate.

In real time plant and controller work at the same time, and a state without an answer now and then
does little harm.
"""

LOCKSTEP = Pace(1000.0, is_lockstep=True)

_REAL_TIME = Phases(ramp_up=0.4, ramp_down=0.3, brake_release=0.5, lead=1.4)
_LOCKSTEP = Phases(ramp_up=0.2, ramp_down=0.2, brake_release=1.2, lead=2.1)
"""Lockstep may run faster than real time, and then the ramp takes more of its time."""


def inertia_of_joints(model: RobotModel) -> Vector:
    """Return the inertia that each joint feels on average over the motions [kg m^2]."""
    postures = [
        q
        for motion in (PICK_PLACE, AGGRESSIVE)
        for q in motion.sample_many(np.linspace(0.0, motion.duration, _N_POSTURES))[0]
    ]
    mean: Vector = np.mean([np.diag(crba(model, q)) for q in postures], axis=0)
    return mean


def reference_times(motion: Scenario) -> Vector:
    """
    Return the times of the points of the reference [s].

    The acceleration of a half cosine begins and ends with a step. A point has one acceleration
    only, and the spline would spread the step over the whole interval before it.

    """
    count = round(motion.duration / POINT_PERIOD)
    times = np.linspace(0.0, motion.duration, count + 1)
    eve = times[1:-1] - _JUMP_PERIOD
    change = np.abs(motion.sample_many(times[1:-1])[2] - motion.sample_many(eve)[2]).max(axis=1)
    largest = np.abs(motion.sample_many(times)[2]).max()
    return np.sort(np.concatenate([times, eve[change > _STEP * largest]]))

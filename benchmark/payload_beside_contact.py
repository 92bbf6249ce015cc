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
A payload that is found while contacts are told: both estimators of the model side by side.

``python benchmark/payload_beside_contact.py`` moves the simulated ES5, which takes 1 kg and puts
it down. Contacts that are found go to the identification, its payload to the monitor of contacts,
as between the two nodes. Two rules are compared: how long a contact keeps it from learning.

"""

from __future__ import annotations

from pathlib import Path
import sys

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test'))

from payload_scenes import (  # noqa: E402
    CUTOFF,
    EFFORT_DELAY,
    EFFORT_DEVIATION,
    es5,
    es5_friction,
    offline_parameters,
    recorded,
    Recording,
    Story,
    watched_model,
)
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort  # noqa: E402
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor  # noqa: E402
from robot_dynamics_ros.core.external_torque.momentum_balance import (  # noqa: E402
    MomentumBalance,
)
from robot_dynamics_ros.core.external_torque.momentum_observer import (  # noqa: E402
    MomentumObserver,
)
from robot_dynamics_ros.core.identification.offline_result import OfflineResult  # noqa: E402
from robot_dynamics_ros.core.identification.online.online_settings import (  # noqa: E402
    OnlineSettings,
)
from robot_dynamics_ros.core.identification.online.running_model import RunningModel  # noqa: E402
from robot_dynamics_ros.core.model.payload import Payload  # noqa: E402

LESSON = 14.0
PICK_UP, PUT_DOWN, END = 17.0, 26.0, 34.0
PAYLOAD = Payload(1.0, 'flange', np.array([0.0, 0.0, 0.05]))
HELD = 0.2
"""How long a contact counts after its last message [s]."""


def running_model(seed: int) -> RunningModel:
    """Return an identification that begins with a model that is wrong by 2 %."""
    model, parameters = watched_model(), offline_parameters(seed)
    base = model.base.to_base(parameters)
    found = OfflineResult(
        model=model, parameters=parameters, base=base,
        covariance=np.diag((0.002 * np.abs(base) + 1e-4) ** 2), spread=EFFORT_DEVIATION,
        correlation_time=0.1, inflation=3.0, prior_weight=1.0, cutoff=CUTOFF, motion_cutoff=20.0,
        effort_delay=EFFORT_DELAY, joint_errors=np.full(6, 0.02), relative_error=0.02,
        is_held_out=True, is_fit=True,
    )  # fmt: skip
    return RunningModel(found, OnlineSettings(payload_frame='flange', effort_delay=EFFORT_DELAY))


def play(recording: Recording, seed: int, longest: float) -> None:
    """Print what both find, with contacts that count for `longest` seconds."""
    running = running_model(seed)
    balance = MomentumBalance(es5(), es5_friction(), effort_delay=EFFORT_DELAY)
    monitor = ContactMonitor(MomentumObserver(balance), MeasuredEffort('torque', 6))
    monitor.start_learning()
    touched = began = told_at = -np.inf
    told: Payload | None = None
    was_contact = False
    print(f'\na contact counts for {longest:g} s; 1 kg from {PICK_UP:g} to {PUT_DOWN:g} s')
    rows = (recording.stamps, recording.q, recording.v, recording.tau)
    for t, q, v, tau in zip(*rows):
        if monitor.learner is not None and t > LESSON:
            monitor.finish_learning(monitor.learnt_thresholds(1.6))  # the lesson is short
        monitor.step(t, q, v, tau)
        is_contact = monitor.detector.is_contact
        if is_contact != was_contact:
            print(f'{t:7.2f} s: contact {"begins" if is_contact else "ends"}')
            was_contact = is_contact
        if is_contact:
            began = t if t - touched > HELD else began
            touched = t
        running.step(t, q, tau, in_contact=t - touched <= HELD and t - began <= longest)
        if t - told_at > 1.0 and running.is_payload_known:
            told_at, payload = t, running.payload
            if payload is not told:
                told = payload
                monitor.change_model(es5().with_payload(payload), 1.0)
                text = 'none'
                if payload is not None:
                    off = 1e3 * float(np.abs(payload.com - PAYLOAD.com).max())
                    text = f'{payload.mass:.3f} kg, centre of mass off by {off:.1f} mm'
                print(f'{t:7.2f} s: payload told: {text}')


def main() -> None:
    """Print both cases."""
    story = Story(END, 'sines', 3, payloads=[(PICK_UP, PAYLOAD), (PUT_DOWN, None)])
    recording = recorded(story)
    for longest in (10.0, 1.0):
        play(recording, 3, longest)


if __name__ == '__main__':
    main()

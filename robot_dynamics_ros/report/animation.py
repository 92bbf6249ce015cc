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
A moving picture of a robot for a page: bars from joint to joint that can be turned with the mouse.

The motion is stored as the positions of the link frames, in tenths of a millimetre, and drawn on a
canvas by a few lines of script; nothing is loaded from elsewhere.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
import json
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.kinematics import place_frame, world_state
from robot_dynamics_ros.core.model.robot_model import RobotModel

_UNIT = 1e-4
"""Resolution of the stored positions [m]."""

_RATE = 30.0
"""Pictures per second."""


@dataclass(frozen=True, eq=False)
class ContactTrace:
    """
    Contact points over time.

    Attributes
    ----------
    points : list of ndarray, shape (n_contacts, 3)
        Points at each sample, in the world frame [m].
    forces : list of ndarray, shape (n_contacts, 3)
        Forces on the robot [N].

    """

    points: Sequence[Matrix]
    forces: Sequence[Matrix]


def animation_markup(
    model: RobotModel,
    t: Vector,
    q: Matrix,
    contacts: ContactTrace | None = None,
    *,
    ground: float | None = None,
) -> str:
    """
    Return HTML that plays a motion.

    Parameters
    ----------
    model : RobotModel
        The robot.
    t : ndarray, shape (n_samples,)
        Increasing times [s].
    q : ndarray, shape (n_samples, nq)
        The motion [rad | m].
    contacts : ContactTrace, optional
        Contact points and forces at the same samples, drawn as arrows.
    ground : float, optional
        Height of a floor to draw [m]; none by default.

    Returns
    -------
    markup : str
        A canvas with its controls and script, to be put into a page once.

    """
    rows = _rows(t)
    names = [link.name for link in model.description.links]
    index = {name: i for i, name in enumerate(names)}
    points = np.array([_origins(model, names, q[row]) for row in rows])
    data: dict[str, Any] = {
        'unit': _UNIT,
        'times': [round(float(t[row] - t[0]), 4) for row in rows],
        'bars': [[index[joint.parent], index[joint.child]] for joint in model.description.joints],
        'points': np.round(points / _UNIT).astype(int).reshape(len(rows), -1).tolist(),
        'ground': ground,
    }
    if contacts is not None:
        data['contacts'] = [_arrows(contacts, row) for row in rows]
        largest = max(
            (float(np.linalg.norm(f, axis=1).max()) for f in contacts.forces if len(f)),
            default=1.0,
        )
        data['largest_force'] = max(largest, 1e-9)
    script = resources.files(__package__).joinpath('animation.js').read_text(encoding='utf-8')
    return (
        '<canvas id="animation" height="520"></canvas>\n'
        '<p><button id="play">pause</button> '
        '<input id="time" type="range" min="0" value="0" style="width:60%"> '
        '<span id="clock"></span></p>\n'
        f'<script>const MOTION = {json.dumps(data, separators=(",", ":"))};\n{script}</script>'
    )


def _rows(t: Vector) -> list[int]:
    """Return the samples for a steady rate of pictures."""
    count = max(2, round(float(t[-1] - t[0]) * _RATE) + 1)
    wanted = np.linspace(t[0], t[-1], count)
    return [int(row) for row in np.clip(np.searchsorted(t, wanted), 0, len(t) - 1)]


def _origins(model: RobotModel, names: Sequence[str], q: Vector) -> Matrix:
    work = world_state(model, q)
    return np.array([place_frame(model.frames[name], work).translation for name in names])


def _arrows(contacts: ContactTrace, row: int) -> list[list[float]]:
    both = np.hstack(
        (np.reshape(contacts.points[row], (-1, 3)), np.reshape(contacts.forces[row], (-1, 3)))
    )
    return [[round(float(x), 4) for x in arrow] for arrow in both]

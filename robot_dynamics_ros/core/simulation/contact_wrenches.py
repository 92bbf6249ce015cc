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
"""The contacts of a simulated robot, summed up for each link."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.dynamics.kinematics import place_frame, world_state
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.plant import Contact


def link_wrenches(model: RobotModel, q: Vector, contacts: Sequence[Contact]) -> dict[str, Vector]:
    """
    Return the wrench of the contacts on each link that touches something.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : ndarray, shape (nq,)
        Its position [rad | m].
    contacts : sequence of Contact
        The contacts there.

    Returns
    -------
    wrenches : dict of str to ndarray, shape (6,)
        ``[f; n]`` on the link, expressed in the link's frame, about its origin [N, N m].

    """
    if not contacts:
        return {}
    work = world_state(model, q)
    wrenches: dict[str, Vector] = {}
    for contact in contacts:
        for link, sign in ((contact.link, 1.0), (contact.surface, -1.0)):
            if link not in model.frames:  # a surface of the world
                continue
            pose = place_frame(model.frame(link), work)
            force = sign * pose.rotation.T @ contact.force
            arm = pose.rotation.T @ (contact.point - pose.translation)
            wrench = np.concatenate((force, np.cross(arm, force)))
            wrenches[link] = wrenches.get(link, np.zeros(6)) + wrench
    return wrenches


def require_clear_start(contacts: Sequence[Contact], deepest: float = 1e-3) -> None:
    """
    Refuse a state in which bodies are inside each other, from which nothing sensible follows.

    Parameters
    ----------
    contacts : sequence of Contact
        The contacts at the start.
    deepest : float
        How deep they may be [m].

    Raises
    ------
    ConfigurationError
        If one is deeper; the message names it.

    """
    for contact in contacts:
        if contact.gap < -deepest:
            raise ConfigurationError(
                f"link '{contact.link}' starts {-contact.gap:.3g} m inside '{contact.surface}'; "
                'move the robot or the surface, or disable the pair'
            )

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
Which link is touched, from the pattern of external torques, and where a single force acts.

A wrench on a link loads the joints between the base and that link, and none beyond. So the
outermost joint with an external torque tells the link at least: what is touched is the link that
it moves, or one further out whose own joints the wrench does not load, because its line crosses
their axes or is parallel to them. This cannot be told apart from torques.

Where all six components of the wrench on that link can be found (six joints or more up to it, in a
pose that is not singular), a single force without moment acts along the line

.. math:: x = \frac{f \times n}{|f|^2} + s\, \frac{f}{|f|},

and where on the line it acts only the surface of the link tells. The pitch
:math:`f \cdot n / |f|^2` of a single force is zero; with another one there is no such line.

References
----------
.. [1] S. Haddadin, A. De Luca, A. Albu-Schaeffer, "Robot collisions: a survey on detection,
   isolation, and identification", IEEE Trans. on Robotics 33(6), 2017, sections V and VI.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, frozen, Vector
from robot_dynamics_ros.core.external_torque.external_wrench import (
    DEFAULT_LENGTH,
    DEFAULT_SMALLEST_LEVER,
    ExternalWrench,
)
from robot_dynamics_ros.core.model.kernel_layout import PARENT
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

LARGEST_PITCH = 0.05
"""Of a wrench that is taken for a single force [m]."""


@dataclass(frozen=True, eq=False)
class ContactLink:
    """
    What is touched.

    Attributes
    ----------
    link : str
        The innermost link that it can be; empty if that cannot be told.
    joint : str
        Outermost joint with an external torque; empty if there is none.
    others : tuple of str
        Links further out that cannot be excluded.
    line_point : ndarray, shape (3,), or None
        Point of the line of action next to the origin of `link`, in the link's frame [m].
    line_direction : ndarray, shape (3,), or None
        Direction of the force on the robot, in the link's frame.
    reason : str
        What cannot be told, and why; empty if nothing is missing.

    """

    link: str = ''
    joint: str = ''
    others: tuple[str, ...] = ()
    line_point: Vector | None = None
    line_direction: Vector | None = None
    reason: str = ''


class ContactLocator:
    """
    Find the touched link.

    Parameters
    ----------
    model : RobotModel
        The robot, all joints of one coordinate.
    length, smallest_lever : float
        As for `ExternalWrench` [m].
    largest_pitch : float
        Of a wrench that is taken for a single force [m].

    Raises
    ------
    ModelError
        If the robot has a joint of several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        *,
        length: float = DEFAULT_LENGTH,
        smallest_lever: float = DEFAULT_SMALLEST_LEVER,
        largest_pitch: float = LARGEST_PITCH,
    ) -> None:
        require_single_joints(model, 'the search for the touched link')
        self.model = model
        self._length, self._smallest_lever = length, smallest_lever
        self._largest_pitch = largest_pitch
        parents = model.kernel[1:, PARENT].astype(int).tolist()  # one kernel body for each
        self._bodies = {j.v_index: j.body for j in model.joints if j.mimic is None}
        self._inward = [_path(parents, body) for body in range(model.nbodies)]
        self._wrenches: dict[str, ExternalWrench] = {}

    def find(self, q: Any, tau_ext: Any, is_significant: Any) -> ContactLink:
        """
        Return what is touched.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Joint positions [rad | m].
        tau_ext : array_like, shape (nv,)
            External torques [N m | N].
        is_significant : array_like of bool, shape (nv,)
            Which of them are more than what the model leaves.

        Raises
        ------
        DimensionError
            If a vector has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        model = self.model
        tau_ext = as_vector('tau_ext', tau_ext, model.nv)
        touched = np.flatnonzero(np.asarray(is_significant)).tolist()
        if not touched:
            return ContactLink(reason='no external torque')
        bodies = [self._bodies[j] for j in touched]
        outermost = max(range(len(touched)), key=lambda k: len(self._inward[bodies[k]]))
        body, joint = bodies[outermost], model.v_names[touched[outermost]]
        if not set(bodies) <= set(self._inward[body]):
            names = ', '.join(model.v_names[j] for j in touched)
            return ContactLink(
                joint=joint, reason=f'joints of several branches are loaded: {names}'
            )
        link = model.body_names[body]
        others = tuple(
            model.body_names[other]
            for other in range(model.nbodies)
            if other != body and body in self._inward[other]
        )
        point, direction, reason = self._line(link, q, tau_ext)
        return ContactLink(link, joint, others, point, direction, reason)

    def _line(
        self, link: str, q: Any, tau_ext: Vector
    ) -> tuple[Vector | None, Vector | None, str]:
        if link not in self._wrenches:
            self._wrenches[link] = ExternalWrench(
                self.model, link, length=self._length, smallest_lever=self._smallest_lever
            )
        found = self._wrenches[link].estimate(q, tau_ext)
        if not found.is_observable:
            seen = 6 - found.unobservable.shape[1]
            return None, None, f'only {seen} of 6 components of the wrench on {link} show'
        force, moment = found.wrench[:3], found.wrench[3:]
        square = float(force @ force)
        if not square > 0.0:
            return None, None, 'no force'
        pitch = float(force @ moment) / square
        if abs(pitch) > self._largest_pitch:
            return None, None, f'no single force: the wrench has a pitch of {pitch:.3f} m'
        point = np.cross(force, moment) / square
        return frozen(point), frozen(force / np.sqrt(square)), ''


def _path(parents: Sequence[int], body: int) -> list[int]:
    """Return the body and those between it and the base."""
    path = []
    while body >= 0:
        path.append(body)
        body = parents[body]
    return path

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

"""How `OnlineIdentification` asks for reasons beside friction: a payload, a contact, a fault."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow


class ExplainedChange(Protocol):
    """A change with its reason."""

    @property
    def kind(self) -> str:
        """Return ``friction``, or anything else, which is not for the trackers here."""

    @property
    def since(self) -> float:
        """Return the stamp from which on it is in the rows [s]."""

    @property
    def before(self) -> float | None:
        """Return since when rows were of something else before it [s]; None if not."""


class RowExplanation(Protocol):
    """What an explainer says after a row."""

    @property
    def change(self) -> ExplainedChange | None:
        """Return a change that has just been explained."""


class RowExplainer(Protocol):
    """Whoever looks for reasons beside friction: a payload, a contact, a fault."""

    @property
    def on_hold(self) -> bool:
        """Whether a change is being explained, in which nothing may be learnt."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return the joints that may be learnt from, shape (nv,)."""

    @property
    def is_blind(self) -> bool:
        """Whether rows of now can never be learnt from, as of a payload that is not known yet."""

    def step(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> RowExplanation:
        """
        Take in a row.

        The residual is what the arm at the start, without payload, leaves of it, and the deviation
        that of one row's error [N m | N].

        """

    def effort(self, row: OnlineRow) -> Vector | None:
        """Return what it explains of the row's effort, shape (nv,) [N m | N]; None for nothing."""

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

"""Which entries of a message belong to which joints, found anew when the names change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError

_LAYOUTS_KEPT = 16
_NAMES_KEPT = 32


@dataclass(frozen=True, eq=False)
class MessageLayout:
    """
    Where the joints stand in messages with these names.

    Attributes
    ----------
    names : list of str
        Names of the message.
    source : ndarray of int, shape (m,)
        Places in the message of the joints that are in the model.
    target : ndarray of int, shape (m,), or slice
        Places of the same joints in the model.
    sign : ndarray, shape (m,), or None
        Factor on the values; None if all are 1.
    has_duplicates : bool
        Whether a name stands in the message twice.

    """

    names: list[str]
    source: NDArray[np.intp]
    target: NDArray[np.intp] | slice
    sign: Vector | None
    has_duplicates: bool

    def picked(self, values: Any) -> Vector:
        """Return the entries of one of the arrays that belong to our joints, shape (m,)."""
        picked: Vector = np.asarray(values, dtype=np.float64)[self.source]
        return picked if self.sign is None else picked * self.sign


class JointNameMap:
    """
    Find the layout of messages; those of the last few lists of names are remembered.

    Parameters
    ----------
    joint_names : sequence of str
        Joints of the model.
    name_map : mapping of str to str, optional
        Joint name by the name that stands in the messages, where they differ.
    signs : mapping of str to float, optional
        1 or -1 by joint name.

    Attributes
    ----------
    ignored_names : list of str
        Names in the messages that are not in the model, the first 32.

    Raises
    ------
    ConfigurationError
        If a sign is not 1 or -1.
    UnknownJointError
        If `name_map` or `signs` names a joint that is not in `joint_names`.

    """

    def __init__(
        self,
        joint_names: Sequence[str],
        name_map: Mapping[str, str] | None = None,
        signs: Mapping[str, float] | None = None,
    ) -> None:
        name_map, signs = name_map or {}, signs or {}
        index = {name: i for i, name in enumerate(joint_names)}
        for name in (*name_map.values(), *signs):
            if name not in index:
                raise UnknownJointError(name, joint_names)
        for name, sign in signs.items():
            if sign not in (1, -1):
                raise ConfigurationError(f"sign of joint '{name}' must be 1 or -1, got {sign}")
        renamed = set(name_map.values())
        self.ignored_names: list[str] = []
        self._size = len(index)
        self._signs = np.array([float(signs.get(name, 1.0)) for name in joint_names])
        self._index = {name: i for name, i in index.items() if name not in renamed}
        self._index.update((there, index[here]) for there, here in name_map.items())
        self._layouts: dict[tuple[str, ...], MessageLayout] = {}
        self._last: MessageLayout | None = None

    def layout(self, names: Sequence[str]) -> MessageLayout:
        """Return the layout of messages with these names."""
        last = self._last
        if last is not None and names == last.names:
            return last
        key = tuple(names)
        found = self._layouts.get(key)
        if found is None:
            if len(self._layouts) >= _LAYOUTS_KEPT:
                self._layouts.clear()
            found = self._layouts[key] = self._new_layout(key)
        self._last = found
        return found

    def _new_layout(self, names: tuple[str, ...]) -> MessageLayout:
        places: dict[int, int] = {}
        for place, name in enumerate(names):
            joint = self._index.get(name)
            if joint is not None:
                places[joint] = place
            elif len(self.ignored_names) < _NAMES_KEPT and name not in self.ignored_names:
                self.ignored_names.append(name)
        joints = np.array(sorted(places), dtype=np.intp)
        sign = self._signs[joints]
        return MessageLayout(
            names=list(names),
            source=np.array([places[joint] for joint in joints], dtype=np.intp),
            target=slice(None) if len(joints) == self._size else joints,
            sign=None if bool(np.all(sign == 1.0)) else sign,
            has_duplicates=len(set(names)) != len(names),
        )

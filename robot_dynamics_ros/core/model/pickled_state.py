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

"""Objects that other processes are sent: read-only mappings and arrays come back as they were."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np


class PickledByFields:
    """
    A frozen dataclass that is pickled by its fields, without what it has worked out and kept.

    Arrays among the fields come back read-only: kernels are compiled for those.

    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, read-only mappings as dictionaries."""
        state = {}
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            is_proxy = isinstance(value, MappingProxyType)
            state[entry.name] = (is_proxy, dict(value) if is_proxy else value)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields over."""
        for name, (is_proxy, value) in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            self.__dict__[name] = MappingProxyType(value) if is_proxy else value

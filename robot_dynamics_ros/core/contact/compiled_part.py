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

"""Compilation of functions that only kernels of this folder call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

import numba

from robot_dynamics_ros.core.jit import LEAN

_OPTIONS: dict[str, Any] = {
    **LEAN,
    'no_cpython_wrapper': True,
    'no_cfunc_wrapper': True,
}
_F = TypeVar('_F', bound=Callable[..., Any])


def part(function: _F) -> _F:
    """Compile a part of lean kernels, without the entry from Python, which takes long."""
    return cast(_F, numba.njit(**_OPTIONS)(function))


def piece(function: _F) -> _F:
    """Compile a part that is called at one place, and is put there."""
    return cast(_F, numba.njit(forceinline=True, **_OPTIONS)(function))

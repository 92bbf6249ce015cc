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

"""Data beside a development checkout; users do not have it, and tests then skip by name."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / 'shared'


def shared_path(*parts: str) -> Path:
    """Return a path in the shared folder, or skip the test with the name of what is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f'shared data not here: {"/".join(parts)}')
    return path

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

"""The robots of the ``example-robot-data`` wheel."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

WHEEL = 'example-robot-data'


def example_urdfs() -> list[Path]:
    """Return every URDF file of the wheel, sorted; empty if it is not installed."""
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        return []
    paths = (Path(str(file.locate())) for file in files if file.suffix == '.urdf')
    return sorted(path for path in paths if path.exists())


def example_urdf(name: str) -> Path:
    """Return one URDF file by its file name, or skip the test if the wheel is not there."""
    for path in example_urdfs():
        if path.name == name:
            return path
    pytest.skip(f'{name}: the wheel {WHEEL} is not installed')

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

"""The linters of a ROS 2 machine, as `colcon test` is expected to run them there."""

from __future__ import annotations

import pytest

from package_files import ROOT, source_files

REASON = 'this linter of ROS 2 is not installed'


def files() -> list[str]:
    folders = ('robot_dynamics_ros', 'test', 'launch', 'benchmark', 'requirements', 'docs')
    return [str(ROOT / 'setup.py'), *(str(path) for path in source_files(*folders))]


def test_copyright() -> None:
    ament_copyright = pytest.importorskip('ament_copyright.main', reason=REASON)
    assert ament_copyright.main(argv=files()) == 0


@pytest.mark.soak
def test_flake8() -> None:
    ament_flake8 = pytest.importorskip('ament_flake8.main', reason=REASON)
    assert ament_flake8.main(argv=['--config', str(ROOT / 'setup.cfg'), *files()]) == 0


@pytest.mark.soak
def test_pep257() -> None:
    ament_pep257 = pytest.importorskip('ament_pep257.main', reason=REASON)
    assert ament_pep257.main(argv=files()) == 0

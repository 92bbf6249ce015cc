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

"""`robot_dynamics compile`: afterwards nothing is left for a node to compile."""

from __future__ import annotations

import importlib
from pathlib import Path
import pkgutil

import numba
import pytest

from robot_dynamics_ros import core
from robot_dynamics_ros.core import jit
from robot_dynamics_ros.tools.cli import main


def kernels() -> dict[str, Path]:
    """Return the folder of each kernel's compiled code, found by a look at every module."""
    found = {}
    for module in pkgutil.walk_packages(core.__path__, f'{core.__name__}.'):
        for name, value in vars(importlib.import_module(module.name)).items():
            function = getattr(value, 'py_func', None)
            is_kept = function is not None and getattr(value.stats, 'cache_path', None)
            if is_kept and function.__module__ == module.name:
                found[f'{module.name.rpartition(".")[2]}.{name}'] = Path(value.stats.cache_path)
    return found


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason='nothing is compiled')
def test_every_kernel_is_kept_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['compile', '--jobs', '1']) == 0
    here = jit.cache_directory(Path(jit.__file__).parent / 'dynamics')
    assert f'They are kept in {here.parent}' in capsys.readouterr().out
    found = kernels()
    assert len(found) > 40  # none would pass for all
    missing = {name for name, path in found.items() if not list(path.glob(f'{name}-*.nbc'))}
    # Batches of robots with joints that mimic others; the small arm has none. The other one is
    # there for tests.
    rare = {'mimic_dynamics.mimic_dynamics_block_kernel', 'symmetric_eigen.symmetric_eigen_kernel'}
    assert missing <= rare

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

"""Where compiled kernels are kept, asked in processes of their own."""

from __future__ import annotations

import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

from robot_dynamics_ros.core import jit

ASK = (
    'from pathlib import Path; from robot_dynamics_ros.core import jit;'
    'print(jit.cache_directory(Path(jit.__file__).parent / "dynamics"))'
)


def asked(**environment: str) -> Path:
    """Return the folder that a new process uses with this environment."""
    clean = {k: v for k, v in os.environ.items() if k not in ('NUMBA_CACHE_DIR', 'XDG_CACHE_HOME')}
    answer = subprocess.run(
        [sys.executable, '-c', ASK],
        env={**clean, 'PYTHONPATH': os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(answer.stdout.strip())


def test_cache_is_in_the_folder_of_the_user_and_not_beside_the_package(tmp_path: Path) -> None:
    folder = asked(XDG_CACHE_HOME=str(tmp_path))
    assert folder.parent == tmp_path / 'robot_dynamics_ros'
    assert folder.is_dir()


def test_numba_cache_dir_comes_first(tmp_path: Path) -> None:
    chosen = tmp_path / 'chosen'
    assert asked(NUMBA_CACHE_DIR=str(chosen), XDG_CACHE_HOME=str(tmp_path)).parent == chosen


def test_without_a_writable_home_it_is_a_private_temporary_folder(tmp_path: Path) -> None:
    # nothing can be made below a device, not even by root
    folder = asked(XDG_CACHE_HOME='/dev/null/cache', TMPDIR=str(tmp_path))
    assert folder.parent == tmp_path / f'robot_dynamics_ros-{os.getuid()}'
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    open_folder = tmp_path / f'robot_dynamics_ros-{os.getuid()}'
    open_folder.mkdir()
    open_folder.chmod(0o777)
    folder = asked(XDG_CACHE_HOME='/dev/null/cache', TMPDIR=str(tmp_path))
    assert open_folder not in folder.parents


def test_source_of_a_called_function_decides_on_the_folder(tmp_path: Path) -> None:
    source = tmp_path / 'kernels.py'
    source.write_text('a = 1\n')
    ask = ASK.replace('Path(jit.__file__).parent / "dynamics"', f'Path({str(tmp_path)!r})')
    folders = []
    for text in ('a = 1\n', 'a = 2\n'):
        source.write_text(text)
        answer = subprocess.run(
            [sys.executable, '-c', ask],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        folders.append(answer.stdout)
    assert folders[0] != folders[1]


KERNEL = """
import sys, time
from pathlib import Path
from robot_dynamics_ros.core.jit import kernel

@kernel
def total(x):
    result = 0.0
    for i in range(len(x)):
        result += x[i]
    return result

import numpy as np
folder = Path(sys.argv[1])
(folder / f'ready_{sys.argv[2]}').touch()
while len(list(folder.glob('ready_*'))) < 3:  # so that all of them need it at once
    time.sleep(0.001)
assert total(np.ones(3)) == 3.0
print(sum(total.stats.cache_misses.values()), sum(total.stats.cache_hits.values()))
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason='nothing is compiled')
def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path) -> None:
    script = tmp_path / 'one_kernel.py'
    script.write_text(KERNEL)
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join(sys.path),
        'NUMBA_CACHE_DIR': str(tmp_path / 'kept'),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(tmp_path), str(k)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(3)
    ]
    answers = sorted(process.communicate(timeout=120)[0].strip() for process in processes)
    assert answers == ['0 1', '0 1', '1 0']  # misses and hits of the kept code


def test_folders_whose_kernels_are_called_are_known() -> None:
    """A kernel that was kept must not outlive a change of one that it calls."""
    core = Path(jit.__file__).parent
    with_kernels = {
        path.parent.name
        for path in core.rglob('*.py')
        if re.search(r'^@kernel', path.read_text(encoding='utf-8'), re.MULTILINE)
    }
    for name in with_kernels:
        used = {folder.name for folder in jit.folders_used_by(core / name)}
        imported = {
            found
            for path in (core / name).glob('*.py')
            for found in re.findall(
                r'^from robot_dynamics_ros\.core\.(\w+)',
                path.read_text(encoding='utf-8'),
                re.MULTILINE,
            )
        }
        assert imported & with_kernels <= used, name
    assert {'dynamics', 'friction', 'simulation'} <= {
        folder.name for folder in jit.folders_used_by(core / 'simulation')
    }


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason='nothing is compiled')
def test_kernel_that_makes_an_array_is_refused() -> None:
    """So none can be left without an owner."""

    def makes(x: Any) -> Any:
        return np.zeros(3).sum() + x[0]

    def reads(x: Any) -> Any:
        return x[1:][0]

    # in memory only: a function of a test is not worth a file
    options = {**jit.QUICK_OPTIONS, 'cache': False}
    assert numba.njit(**options)(reads)(np.arange(3.0)) == 1.0
    with pytest.raises(numba.TypingError):
        numba.njit(**options)(makes)(np.arange(3.0))

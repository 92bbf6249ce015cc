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

"""
Compilation of the hot kernels, and where the compiled code is kept.

Kernels are plain Python over float64 arrays. With NUMBA_DISABLE_JIT=1 they run uncompiled, for
debugging and coverage.

The compiled code is kept between runs in NUMBA_CACHE_DIR, or else in the user's cache folder, or
else in a private folder among the temporary files; never beside the package, which may be
installed read-only. numba looks only at the file of the kernel itself when it decides whether the
kept code is still good, so the folder's name carries a digest of the sources that the kernel can
call: those of its own folder, and of the folders with kernels that it imports. A change there
makes a new folder.

Several nodes that start on a new machine need the same kernels: each kernel is compiled by one
process, and the others wait for what it writes.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import fcntl
from functools import cache
import hashlib
import os
from pathlib import Path
import re
import tempfile
import threading
from typing import Any, cast, TypeVar

import numba
from numba.core.compiler_lock import global_compiler_lock

_FOLDERS_WITH_KERNELS = {'dynamics', 'friction', 'drive', 'contact', 'simulation'}

LONGEST_WAIT = 600.0
"""For a kernel that another process compiles [s]; after it, it is compiled here as well."""

PAUSE = 0.02
"""From one look at the other process to the next [s]."""

_config: Any = numba.config
_typeof: Any = numba.typeof
_njit: Any = numba.njit
_F = TypeVar('_F', bound=Callable[..., Any])

# 'contract' lets a product and a sum become one rounding; NaN and infinity keep their meaning.
KERNEL_OPTIONS: dict[str, Any] = {
    'nogil': True,
    'error_model': 'numpy',
    'fastmath': {'contract'},
}


def _counting(is_on: bool) -> dict[str, Any]:
    """Return the option that turns the counting of references to arrays on or off, if known."""
    option = {'_nrt': is_on}
    try:
        _njit(**option)(lambda: None)
    except Exception:  # numba's own kind of error for options differs between versions
        return {}
    return option


# A view of an array costs two atomic additions where references are counted: without them ABA
# takes two thirds of the time, a step with a contact less than half.
QUICK_OPTIONS: dict[str, Any] = {**KERNEL_OPTIONS, **_counting(False)}


def kernel(function: _F) -> _F:
    """
    Compile a function that Python calls; the compiled code is kept between runs.

    It must not make arrays; views of those that it gets are free.

    """
    return _kept(function, QUICK_OPTIONS)


def allocating_kernel(function: _F) -> _F:
    """Compile a function that Python calls and that makes arrays of its own."""
    return _kept(function, {**KERNEL_OPTIONS, **_counting(True)})


def _kept(function: _F, options: dict[str, Any]) -> _F:
    previous = _config.CACHE_DIR
    folder = cache_directory(Path(function.__code__.co_filename).parent)
    _config.CACHE_DIR = str(folder)
    try:
        kept = _njit(cache=True, **options)(function)
    finally:
        _config.CACHE_DIR = previous
    if hasattr(kept, 'compile'):  # not where compilation is disabled
        kept.compile = _by_one_process(kept.compile, folder / f'{function.__qualname__}.lock')
    return cast(_F, kept)


def _by_one_process(compile_here: Callable[[Any], Any], lock: Path) -> Callable[[Any], Any]:
    """Return a method that compiles or loads while no other process compiles this kernel."""

    def compile_alone(signature: Any) -> Any:
        # The lock of the threads comes first, as within the compiler: so no two can cross.
        with global_compiler_lock, _locked(lock):
            return compile_here(signature)

    return compile_alone


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock among processes; it ends with the process. Without locks, go on without."""
    try:
        file = open(path, 'w')
    except OSError:
        yield
        return
    with file:
        for _ in range(round(LONGEST_WAIT / PAUSE)):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                threading.Event().wait(PAUSE)  # not within flock, so that a signal is heard
            except OSError:  # a file system without locks
                break
        yield


def inner(function: _F) -> _F:
    """Compile a function that only kernels call."""
    return cast(_F, _njit(forceinline=True, **QUICK_OPTIONS)(function))


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """
    Compile `function` for the types of `arguments`, by one call, and return its quickest form.

    The result must be called with arguments of exactly the same types: it no longer looks at them,
    which takes half of the time of a short call.

    """
    function(*arguments)
    signature = tuple(_typeof(argument) for argument in arguments)
    for compiled in getattr(function, 'overloads', {}).values():
        entry = getattr(compiled, 'entry_point', None)
        if entry is not None and tuple(compiled.signature.args) == signature:
            return cast(Callable[..., Any], entry)
    return function


class Quick:
    """
    A kernel called from Python with the same types every time.

    Attributes
    ----------
    call : callable
        The kernel; from the second call on without a look at the types. Arrays must be contiguous
        and writable float64 arrays, the packed model read-only.

    """

    call: Callable[..., Any]
    __slots__ = ('call',)

    def __init__(self, function: Callable[..., Any]) -> None:
        def first(*arguments: Any) -> Any:
            self.call = entry_point(function, *arguments)
            return self.call(*arguments)

        self.call = first


@cache
def cache_directory(sources: Path) -> Path:
    """
    Return the folder for compiled kernels from the folder `sources`.

    It exists and is writable.

    """
    name = f'kernels-{_digest_of(sources)}'
    for base in _cache_bases():
        folder = base / name
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_private(base):
                with tempfile.TemporaryFile(dir=folder):
                    return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix='robot_dynamics_ros-'))


def has_compiled_kernels() -> bool:
    """Whether compiled code of the dynamics is kept from an earlier start."""
    folder = cache_directory(Path(__file__).resolve().parent / 'dynamics')
    return any(folder.rglob('*.nbc'))


def _cache_bases() -> list[Path]:
    bases = []
    if _config.CACHE_DIR:
        bases.append(Path(_config.CACHE_DIR))
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    bases.append(Path(home) / 'robot_dynamics_ros')
    bases.append(Path(tempfile.gettempdir()) / f'robot_dynamics_ros-{os.getuid()}')
    return bases


def _is_private(folder: Path) -> bool:
    """Whether strangers cannot put code into the folder: what lies there is run."""
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o002


def _digest_of(sources: Path) -> str:
    core = Path(__file__).resolve().parent
    files = [Path(__file__), core / 'model' / 'kernel_layout.py']
    for folder in sorted(folders_used_by(sources)):
        files.extend(sorted(folder.glob('*.py')))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def folders_used_by(sources: Path) -> set[Path]:
    """Return the folder, and those with kernels that it imports, directly or through others."""
    found: set[Path] = set()
    waiting = [sources]
    while waiting:
        folder = waiting.pop()
        if folder in found:
            continue
        found.add(folder)
        text = '\n'.join(file.read_text(encoding='utf-8') for file in folder.glob('*.py'))
        used = set(re.findall(r'^from robot_dynamics_ros\.core\.(\w+)', text, re.MULTILINE))
        core = Path(__file__).resolve().parent
        waiting.extend(core / name for name in used & _FOLDERS_WITH_KERNELS)
    return found

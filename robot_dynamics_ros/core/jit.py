"""
Compilation of the hot kernels, and where the compiled code is kept.

Kernels are plain Python over float64 arrays. With NUMBA_DISABLE_JIT=1 they run uncompiled, for debugging and coverage.

The compiled code is kept between runs in NUMBA_CACHE_DIR, or else in the user's cache folder, or else in a private folder
among the temporary files; never beside the package, which may be installed read-only. numba looks only at the file of the
kernel itself when it decides whether the kept code is still good, so the folder's name carries a digest of all sources
of `core`: a change in a function that a kernel calls makes a new folder.

"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

_F = TypeVar('_F', bound=Callable[..., Any])

# 'contract' lets a multiplication and an addition become one rounding; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {
    'nogil': True,
    'error_model': 'numpy',
    'fastmath': {'contract'},
}


def kernel(function: _F) -> _F:
    """Compile a function that Python calls; the compiled code is kept between runs."""
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory())
    try:
        return cast(_F, numba.njit(cache=True, **_OPTIONS)(function))
    finally:
        numba.config.CACHE_DIR = previous


def inner(function: _F) -> _F:
    """Compile a function that only kernels call."""
    return cast(_F, numba.njit(**_OPTIONS)(function))


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """
    Compile `function` for the types of `arguments`, by one call, and return its quickest form.

    The first two of `arguments`, the packed model and its work array, are bound. The result must be called with the
    others of exactly the same types: it no longer looks at them.

    """
    function(*arguments)
    overloads = getattr(function, 'overloads', {})
    for compiled in overloads.values():
        entry = getattr(compiled, 'entry_point', None)
        signature = tuple(numba.typeof(argument) for argument in arguments)
        if entry is not None and tuple(compiled.signature.args) == signature:
            return partial(entry, *arguments[:2])
    return partial(function, *arguments[:2])


@lru_cache(maxsize=1)
def cache_directory() -> Path:
    """Return the folder for compiled kernels; it exists and is writable."""
    name = f'kernels-{_digest_of_sources()}'
    for base in _cache_bases():
        folder = base / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix='robot_dynamics_ros-'))


def _cache_bases() -> list[Path]:
    bases = []
    if numba.config.CACHE_DIR:
        bases.append(Path(numba.config.CACHE_DIR))
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    bases.append(Path(home) / 'robot_dynamics_ros')
    return bases


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    core = Path(__file__).resolve().parent
    for folder in ('dynamics', 'model', 'simulation', 'friction', 'trajectory', 'control'):
        for source in sorted((core / folder).glob('*.py')):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]

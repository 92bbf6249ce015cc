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
The state of estimation as a file that a restarted process goes on from.

All arrays stand in one ``.npz`` file beside digests of what they belong to: robot, terms of the
drives, filters, start. A file of something else is refused with the part that differs, and one
that is damaged is refused whole; a file appears whole or not at all. What is no such file is
refused with another error, since it is somebody else's.

"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import io
from itertools import count
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    ForeignFileError,
    OutputError,
)
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.whole_file import write_whole

FORMAT = 'robot_dynamics_ros online identification 1'

MARK = FORMAT.rsplit(' ', 1)[0].encode('utf-32-le')
"""Stands in every such file, of any version, as it is not compressed."""

Arrays = Mapping[str, NDArray[Any]]


def digests(start: OnlineStart, filters: Mapping[str, float | str | None]) -> dict[str, str]:
    """
    Return a digest of each part that a state belongs to.

    Parameters
    ----------
    start : OnlineStart
        Model and start; numbers count in single precision.
    filters : mapping of str to float, str or None
        Settings that rows depend on, by name.

    """
    model = start.model
    robot = model.robot
    return {
        'robot': _digest(repr((robot.v_names, robot.body_names)), robot.kernel, model.prior),
        'friction terms': _digest(repr((model.structure, model.base.base_names))),
        'smoothing velocities': _digest(repr(model.velocities)),
        'filters': _digest(repr(sorted(filters.items()))),
        'start': _digest('', start.base, np.diag(start.covariance), start.spread),
    }


def state_bytes(state: Arrays, parts: Mapping[str, str]) -> bytes:
    """Return a state with the digests of what it belongs to as the content of a file."""
    buffer = io.BytesIO()
    said = [FORMAT, *(f'{name}={digest}' for name, digest in parts.items())]
    arrays: dict[str, Any] = {f'state/{key}': value for key, value in state.items()}
    np.savez(buffer, digests=np.array(said), **arrays)
    return buffer.getvalue()


def state_of_bytes(content: bytes, parts: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """
    Return the state in the content of a file.

    Parameters
    ----------
    content : bytes
        Of the file.
    parts : mapping of str to str
        `digests` of what the state shall belong to.

    Raises
    ------
    ForeignFileError
        If it is no such file.
    ConfigurationError
        If it is damaged, or belongs to something else; says what differs.

    """
    if not content.startswith(b'PK') or MARK not in content:
        raise ForeignFileError('it is no saved state of an online identification')
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except Exception as error:  # what comes of damaged bytes depends on the versions of numpy, zip
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ConfigurationError(f'saved state cannot be read: {reason}') from error
    said = [str(line) for line in np.ravel(found.pop('digests', np.array(['']))).tolist()]
    if not said or said[0] != FORMAT:
        raise ConfigurationError(f"saved state is not of the format '{FORMAT}'")
    its = {name: digest for name, _, digest in (line.partition('=') for line in said[1:])}
    other = [name for name, digest in parts.items() if its.get(name) != digest]
    if other:
        raise ConfigurationError(
            f'saved state belongs to something else: {", ".join(other)} differ from what they '
            'were when it was saved'
        )
    return {name.removeprefix('state/'): value for name, value in found.items()}


def write_state(path: str | Path, state: Arrays, parts: Mapping[str, str]) -> Path:
    """
    Write a state to a file, whole or not at all; an earlier state there is replaced.

    Raises
    ------
    OutputError
        If it cannot be written.

    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, state_bytes(state, parts))
    except OSError as error:
        raise OutputError(f'state cannot be written to {path}: {error}') from error
    return path


def read_state(path: str | Path, parts: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """
    Read a state from a file.

    Raises
    ------
    ForeignFileError
        If the file cannot be opened, or is no such file.
    ConfigurationError
        As of `state_of_bytes`.

    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise ForeignFileError(f'{path} cannot be read: {reason}') from error
    try:
        return state_of_bytes(content, parts)
    except ConfigurationError as error:
        raise type(error)(f'{path}: {error}') from error


def set_aside(path: str | Path) -> Path:
    """
    Move a file to ``NAME.refused``, or the first of ``NAME.refused-2``, ... that is free.

    Raises
    ------
    OutputError
        If it cannot be moved.

    """
    path = Path(path)
    names = (f'{path.name}.refused{f"-{i}" if i > 1 else ""}' for i in count(1))
    try:
        free = next(place for place in map(path.with_name, names) if not os.path.lexists(place))
        return path.rename(free)
    except OSError as error:
        raise OutputError(f'{path} cannot be moved aside: {error.strerror}') from error


def part_of(state: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


def _digest(text: str, *arrays: NDArray[np.float64]) -> str:
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=np.float32).tobytes())
    return digest.hexdigest()[:16]

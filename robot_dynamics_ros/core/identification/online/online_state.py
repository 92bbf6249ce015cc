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
that is damaged is refused whole; a file appears whole or not at all.

"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import io
from pathlib import Path
from typing import Any
import zipfile

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.exceptions import ConfigurationError, OutputError
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.whole_file import write_whole

FORMAT = 'robot_dynamics_ros online identification 1'

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
    ConfigurationError
        If it is no such file, is damaged, or belongs to something else; says what differs.

    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(f'saved state cannot be read: {reason}') from error
    said = [str(line) for line in np.atleast_1d(found.pop('digests', np.array(['']))).tolist()]
    if said[0] != FORMAT:
        raise ConfigurationError(f"saved state is not of the format '{FORMAT}'")
    its = dict(line.split('=', 1) for line in said[1:])
    other = [name for name, digest in parts.items() if its.get(name) != digest]
    if other:
        raise ConfigurationError(
            f'saved state belongs to something else: {", ".join(other)} differ from what they '
            'were when it was saved; remove the file to begin anew'
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
    ConfigurationError
        If the file cannot be read, or as of `state_of_bytes`.

    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f'saved state cannot be read: {error}') from error
    try:
        return state_of_bytes(content, parts)
    except ConfigurationError as error:
        raise ConfigurationError(f'{path}: {error}') from error


def part_of(state: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


def _digest(text: str, *arrays: NDArray[np.float64]) -> str:
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=np.float32).tobytes())
    return digest.hexdigest()[:16]

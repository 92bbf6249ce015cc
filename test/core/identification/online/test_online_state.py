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

"""Saved states: whole or not at all, and only for what they belong to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    ForeignFileError,
    OutputError,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    start_of_description,
)
from robot_dynamics_ros.core.identification.online.online_state import (
    digests,
    FORMAT,
    read_state,
    set_aside,
    state_bytes,
    state_of_bytes,
    write_state,
)
from tracker_rows import es5_model, NOISE

FILTERS = {'cutoff': 5.0, 'motion_cutoff': None}
STATE = {'a/root': np.arange(6.0).reshape(2, 3), 'b': np.array(3.0)}


def start() -> OnlineStart:
    return start_of_description(es5_model(), NOISE, 1.0)


def test_a_state_comes_back_bit_for_bit(tmp_path: Path) -> None:
    parts = digests(start(), FILTERS)
    path = write_state(tmp_path / 'deep' / 'state.npz', STATE, parts)
    again = read_state(path, digests(start(), dict(FILTERS)))
    assert again.keys() == STATE.keys()
    assert all(np.array_equal(again[key], value) for key, value in STATE.items())
    write_state(path, {'b': np.array(4.0)}, parts)
    assert read_state(path, parts)['b'] == 4.0
    assert [entry.name for entry in path.parent.iterdir()] == ['state.npz']


def test_a_state_of_something_else_is_refused_with_what_differs() -> None:
    first = start()
    content = state_bytes(STATE, digests(first, FILTERS))
    model = first.model
    tilted = identification_model(
        model.robot.with_gravity((0.0, 5.0, -8.4)), model.structure, model.velocities
    )
    wider = identification_model(model.robot, model.structure, 6 * (0.05,))
    stribeck = es5_model('stribeck')
    others = {
        'robot': digests(start_of_description(tilted, NOISE, 1.0), FILTERS),
        'friction terms': digests(start_of_description(stribeck, NOISE, 1.0), FILTERS),
        'smoothing velocities': digests(start_of_description(wider, NOISE, 1.0), FILTERS),
        'filters': digests(first, {**FILTERS, 'cutoff': 4.0}),
        'start': digests(replace(first, base=first.base * 1.01), FILTERS),
    }
    for name, parts in others.items():
        with pytest.raises(ConfigurationError, match=f'something else: .*{name}'):
            state_of_bytes(content, parts)
    state_of_bytes(content, digests(first, FILTERS))


def test_damaged_files_are_refused_whole(tmp_path: Path) -> None:
    parts = digests(start(), FILTERS)
    path = write_state(tmp_path / 'state.npz', STATE, parts)
    content = path.read_bytes()
    flags = content.index(b'PK\x01\x02') + 8
    flipped = content[:flags] + b'\xff' + content[flags + 1 :]  # encrypted, says the header now
    for broken in (content[: len(content) // 2], content[:-30], flipped):
        path.write_bytes(broken)
        with pytest.raises(ConfigurationError, match='cannot be read') as caught:
            read_state(path, parts)
        assert type(caught.value) is ConfigurationError, 'it is ours all the same'
    odd = {'digests': np.array([FORMAT, 'no digest']), **STATE}
    np.savez(path, **odd)
    with pytest.raises(ConfigurationError, match='something else: robot'):
        read_state(path, parts)
    np.savez(path, digests=np.array([FORMAT[:-1] + '0']))
    with pytest.raises(ConfigurationError, match='not of the format'):
        read_state(path, parts)
    with pytest.raises(ForeignFileError, match='cannot be read: No such file'):
        read_state(tmp_path / 'missing.npz', parts)
    with pytest.raises(OutputError, match='cannot be moved aside'):
        set_aside(tmp_path / 'missing.npz')
    with pytest.raises(OutputError, match='cannot be written'):
        write_state(path / 'below_a_file.npz', STATE, parts)


def test_files_of_somebody_else_are_told_from_states(tmp_path: Path) -> None:
    parts = digests(start(), FILTERS)
    array, archive = tmp_path / 'array.npy', tmp_path / 'other.npz'
    np.save(array, np.arange(3.0))
    np.savez(archive, b=np.array(1.0))
    for content in (b'', b'joints: [a, b]', array.read_bytes(), archive.read_bytes()):
        with pytest.raises(ForeignFileError, match='no saved state'):
            state_of_bytes(content, parts)
    with pytest.raises(ForeignFileError, match='cannot be read: Is a directory'):
        read_state(tmp_path, parts)


def test_a_file_is_set_aside_without_writing_over_another(tmp_path: Path) -> None:
    path = tmp_path / 'state.npz'
    for i, name in enumerate(('.refused', '.refused-2', '.refused-3')):
        path.write_bytes(bytes([i]))
        assert set_aside(path).name == f'state.npz{name}'
    assert {entry.read_bytes() for entry in tmp_path.iterdir()} == {b'\0', b'\1', b'\2'}

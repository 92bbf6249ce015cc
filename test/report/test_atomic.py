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

from __future__ import annotations

from pathlib import Path
import stat

import pytest

from robot_dynamics_ros.core.exceptions import OutputError
from robot_dynamics_ros.report.atomic import (
    refuse_existing,
    refuse_filled_directory,
    staged_directory,
    staged_file,
    write_bytes,
    write_text,
)


def test_file_appears_whole_with_its_parents(tmp_path: Path) -> None:
    path = write_text(tmp_path / 'a' / 'b' / 'c.txt', 'grüß')
    assert path.read_text('utf-8') == 'grüß'
    assert [entry.name for entry in path.parent.iterdir()] == ['c.txt']
    plain = tmp_path / 'plain'
    plain.write_bytes(b'')
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_existing_file_is_only_replaced_when_told(tmp_path: Path) -> None:
    path = write_text(tmp_path / 'a.txt', 'one')
    with pytest.raises(OutputError, match='a.txt exists'):
        write_text(path, 'two')
    assert path.read_text() == 'one'
    write_bytes(path, b'two', overwrite=True)
    assert path.read_text() == 'two'
    with pytest.raises(OutputError, match='is a folder'):
        write_text(tmp_path, 'x', overwrite=True)


def test_failure_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = write_text(tmp_path / 'a.txt', 'one')
    with pytest.raises(ZeroDivisionError), staged_file(path, overwrite=True) as temporary:
        assert temporary.name == 'a.txt'  # writers choose the format by the suffix
        temporary.write_text('half of tw')
        raise ZeroDivisionError
    assert path.read_text() == 'one'
    assert list(tmp_path.iterdir()) == [path]


def test_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / 'result'
    with pytest.raises(ZeroDivisionError), staged_directory(target) as folder:
        (folder / 'a').write_text('1')
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with staged_directory(target) as folder:
        (folder / 'a').write_text('1')
        assert not target.exists()
    assert (target / 'a').read_text() == '1'
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(tmp_path.stat().st_mode) | 0o055


def test_folder_with_other_things_keeps_them(tmp_path: Path) -> None:
    target = tmp_path / 'result'
    target.mkdir()
    with staged_directory(target) as folder:  # an empty folder is as good as none
        (folder / 'a').write_text('1')
        (folder / 'inner').mkdir()
    (target / 'inner' / 'old').touch()
    (target / 'precious').write_text('keep')
    with pytest.raises(OutputError, match='result exists'), staged_directory(target):
        pass
    with staged_directory(target, overwrite=True) as folder:
        (folder / 'a').write_text('2')
        (folder / 'inner').mkdir()
    assert (target / 'a').read_text() == '2'
    assert (target / 'precious').read_text() == 'keep'
    assert list((target / 'inner').iterdir()) == []
    with staged_directory(target, overwrite=True, replace=True) as folder:
        (folder / 'a').write_text('3')
    assert [entry.name for entry in target.iterdir()] == ['a']
    assert [entry.name for entry in tmp_path.iterdir()] == ['result']


def test_refusals_come_before_the_work(tmp_path: Path) -> None:
    file = write_text(tmp_path / 'a.txt', 'one')
    with pytest.raises(OutputError, match='a.txt exists'):
        refuse_existing(file)
    refuse_existing(file, overwrite=True)
    with pytest.raises(OutputError, match='is a file, expected a folder'):
        refuse_filled_directory(file, overwrite=True)
    with pytest.raises(OutputError, match='exists'):
        refuse_filled_directory(tmp_path)
    refuse_filled_directory(tmp_path, overwrite=True)
    refuse_filled_directory(tmp_path / 'new')
    with pytest.raises(OutputError, match='cannot write'), staged_file(file / 'below'):
        pass

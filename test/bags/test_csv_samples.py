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

import numpy as np
import pytest

from robot_dynamics_ros.bags.csv_columns import columns_of_header, columns_of_rules, CsvColumn
from robot_dynamics_ros.bags.csv_samples import CsvSamples
from robot_dynamics_ros.bags.joint_blocks import JointLogStream
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.log_pieces import whole_log
from robot_dynamics_ros.core.exceptions import BagError, ConfigurationError


def read(samples: CsvSamples) -> JointLog:
    stream = JointLogStream(samples)
    return whole_log(stream.pieces(), stream.most_samples)


def table(count: int = 50) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return time, two positions and two efforts."""
    t = 0.01 * np.arange(count)
    return np.column_stack([t, np.sin(t), np.cos(t), 3.0 * t, -t])


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('position_elbow', ('position', 'elbow')),
        ('q_joint_1', ('position', 'joint_1')),
        ('q1', ('position', '1')),
        ('elbow.effort', ('effort', 'elbow')),
        ('/joint_states/panda_joint1/velocity', ('velocity', 'panda_joint1')),
        ('/joint_states/position[elbow]', ('position', 'elbow')),
        ('tau_elbow', ('effort', 'elbow')),
        ('current_elbow', ('effort', 'elbow')),
        ('Time', ('time', '')),
        ('time [s]', ('time', '')),
        ('temperature_elbow', ('-', '')),
        ('elbow', ('-', '')),
    ],
)
def test_header_names_field_and_joint(name: str, expected: tuple[str, str]) -> None:
    assert columns_of_header([name]) == (CsvColumn(*expected),)


def test_columns_can_be_stated() -> None:
    columns = columns_of_rules(['time', '-', 'effort:arm:elbow'])
    assert columns == (CsvColumn('time'), CsvColumn('-'), CsvColumn('effort', 'arm:elbow'))
    for wrong in ('force:elbow', 'effort', 'elbow', ''):
        with pytest.raises(ConfigurationError, match='is not time, - or one of'):
            columns_of_rules([wrong])


@pytest.mark.parametrize('delimiter', [',', ';', '\t', ' ', ', '])
def test_file_with_header_and_times(tmp_path: Path, delimiter: str) -> None:
    rows = table()
    names = delimiter.join(['t', 'q_a', 'q_b', 'tau_b', 'tau_a'])
    path = tmp_path / 'log.csv'
    np.savetxt(path, rows, delimiter=delimiter, header=names, comments='')
    log = read(CsvSamples(path))
    assert log.joint_names == ('a', 'b')
    assert np.allclose(log.stamps, rows[:, 0], rtol=0.0, atol=1e-9)  # times are kept in ns
    assert np.array_equal(log.position, rows[:, 1:3])
    assert log.velocity is None and log.effort is not None
    assert np.array_equal(log.effort, rows[:, [4, 3]])
    assert log.counts == {'messages': 50}


def test_matrix_without_header_needs_columns_and_rate(tmp_path: Path) -> None:
    path = tmp_path / 'log.txt'
    np.savetxt(path, table()[:, 1:])
    with pytest.raises(BagError, match='has no header: state its 4 columns with --csv-columns'):
        CsvSamples(path, rate=100.0)
    columns = ['position:a', 'position:b', 'effort:b', '-']
    with pytest.raises(BagError, match='no column of times .* --csv-rate HZ'):
        CsvSamples(path, columns=columns)
    with pytest.raises(BagError, match='has 4 columns, but 2 are stated'):
        CsvSamples(path, columns=columns[:2])
    log = read(CsvSamples(path, rate=100.0, columns=columns))
    assert np.allclose(log.stamps, 0.01 * np.arange(50), rtol=0.0, atol=1e-9)
    assert log.effort is not None and np.isnan(log.effort[:, 0]).all()


def test_files_by_field_are_joined_row_by_row(tmp_path: Path) -> None:
    rows = table(9000)  # more than one chunk
    np.savetxt(tmp_path / 'q.csv', rows[:, 1:3], delimiter=',', header='a,b', comments='')
    np.savetxt(tmp_path / 'tau.csv', rows[:, 3:], delimiter=',', header='b,a', comments='')
    files = {'position': tmp_path / 'q.csv', 'effort': tmp_path / 'tau.csv'}
    log = read(CsvSamples(files, rate=100.0))
    assert np.array_equal(log.position, rows[:, 1:3])
    assert log.effort is not None and np.array_equal(log.effort, rows[:, [4, 3]])
    np.savetxt(tmp_path / 'tau.csv', rows[:-1, 3:], delimiter=',', header='b,a', comments='')
    with pytest.raises(BagError, match=r'q.csv has 9000 rows.*tau.csv has 8999 rows: expected as'):
        read(CsvSamples(files, rate=100.0))
    with pytest.raises(BagError, match="'force' is no field"):
        CsvSamples({'force': tmp_path / 'tau.csv'})


def test_empty_cells_are_missing_and_bad_ones_named(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('# made by hand\nt,q_a,tau_a\n0.0,1.0,2.0\n\n0.1,1.1,\n0.2,1.2,nan\n')
    log = read(CsvSamples(path))
    assert np.array_equal(log.stamps, [0.0, 0.1, 0.2])
    assert log.effort is not None
    assert np.array_equal(log.effort[:, 0], [2.0, np.nan, np.nan], equal_nan=True)
    for text, reason in (
        ('t,q_a\n0,1\n1,abc\n', "line 3: 'abc' is not a number"),
        ('t,q_a\n0,1\n1,2,3\n', 'line 3: 3 cells, expected 2'),
        ('t,q_a\n0,1\n,2\n', 'the time of some rows is missing'),
        ('t,x,y\n0,1,2\n', 'no column is understood; it has: t, x, y'),
        ('t,q_a,pos_a\n0,1,2\n', 'two columns with the position of a'),
        ('t,q_a\n', 'no usable message of 0'),
        ('', 'is empty'),
    ):
        path.write_text(text)
        with pytest.raises(BagError, match=reason) as caught:
            read(CsvSamples(path))
        assert '\n' not in str(caught.value)
    with pytest.raises(BagError, match='nothing.csv cannot be read: No such file'):
        CsvSamples(tmp_path / 'nothing.csv')


def test_columns_that_are_not_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('t,q_a,temperature\n0,1,30\n1,2,31\n')
    assert read(CsvSamples(path)).notes[0] == 'log.csv: not used: temperature'


def test_times_are_cleaned_as_those_of_a_bag(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('t,q_a\n' + ''.join(f'{t},{t}\n' for t in (5.0, 5.1, 5.3, 5.2, 5.3, 5.4)))
    log = read(CsvSamples(path))
    assert np.array_equal(log.position[:, 0], [5.0, 5.1, 5.2, 5.3, 5.4])
    assert log.counts == {'messages': 6, 'out of order': 1, 'repeated stamp': 1}


def test_time_zero_is_a_time(tmp_path: Path) -> None:
    path = tmp_path / 'log.csv'
    path.write_text('t,q_a\n' + ''.join(f'{t},{t}\n' for t in (-0.2, -0.1, 0.0, 0.1)))
    log = read(CsvSamples(path))
    assert len(log.stamps) == 4 and log.counts == {'messages': 4}

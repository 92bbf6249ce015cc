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
Joint states from CSV files, as rows.

One file holds everything, or each field has a file of its own with the same number of rows. Times
are a column in seconds, or follow from a sampling rate. Separators are commas, semicolons, tabs or
blanks; an empty cell is a missing value, and lines that begin with ``#`` are passed over.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from robot_dynamics_ros.bags.csv_columns import (
    columns_of_header,
    columns_of_rules,
    CsvColumn,
    TIME,
    UNUSED,
)
from robot_dynamics_ros.bags.joint_rows import CHUNK, FIELDS, JointGroup, JointRows
from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.exceptions import BagError

CSV_SUFFIXES = ('.csv', '.tsv', '.txt')
"""Names of CSV files end with one of these."""


class CsvSamples:
    """
    A log in CSV files.

    Parameters
    ----------
    files : str or Path, or mapping of str to str or Path
        One file, or files by field.
    rate : float, optional
        Sampling rate, for files without a column of times [Hz].
    columns : sequence of str
        Meaning of the columns of a single file, see `columns_of_rules`; from its header by
        default.

    Attributes
    ----------
    name : str
        Path, for messages.
    message_count : None
        How long a file is shows when it is read.
    counts : dict
        Number of rows, after a reading.
    notes : list of str
        What should be known.

    Raises
    ------
    BagError
        If a file cannot be read, no column is understood, or times are missing.
    ConfigurationError
        If a stated column is not understood.

    """

    message_count = None

    def __init__(
        self,
        files: str | Path | Mapping[str, str | Path],
        *,
        rate: float | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        by_field = files if isinstance(files, Mapping) else {'': files}
        if unknown := [field for field in by_field if field and field not in FIELDS]:
            raise BagError(f"'{unknown[0]}' is no field: expected {', '.join(FIELDS)}")
        self._tables = [
            _CsvTable(Path(path), field or None, columns) for field, path in by_field.items()
        ]
        self._rate = rate
        self.name = ', '.join(str(table.path) for table in self._tables)
        joints = [c.joint for table in self._tables for c in table.columns if c.joint]
        self._group = JointGroup('', tuple(dict.fromkeys(joints)), zero_is_time=True)
        self.topics = ('',)
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []
        self._check_times()

    def chunks(self, advance: Callable[[int], None] | None = None) -> Iterator[list[JointRows]]:
        """
        Stream all samples, see `SampleSource.chunks`.

        Raises
        ------
        BagError
            If a cell is no number, a line has another number of cells, or files differ in their
            number of rows; file and line are named.

        """
        readers = [table.blocks() for table in self._tables]
        count = 0
        while True:
            blocks = [next(reader, None) for reader in readers]
            found = [block for block in blocks if block is not None]
            if not found:
                break
            if len({len(block) for block in found}) > 1 or len(found) < len(blocks):
                raise BagError(self._unequal_text())
            yield [self._rows(found, count)]
            count += len(found[0])
            if advance is not None:
                advance(len(found[0]))
        self.counts = {'messages': count}
        self.notes = [note for table in self._tables for note in table.notes]

    def _rows(self, blocks: Sequence[Matrix], done: int) -> JointRows:
        count = len(blocks[0])
        values = np.full((count, len(FIELDS), len(self._group.joint_names)), np.nan)
        seconds = (done + np.arange(count)) / (self._rate or 1.0)
        for table, block in zip(self._tables, blocks):
            for index, column in enumerate(table.columns):
                if column.joint:
                    joint = self._group.joint_names.index(column.joint)
                    values[:, FIELDS.index(column.kind), joint] = block[:, index]
                elif column.kind == TIME and self._rate is None:
                    seconds = block[:, index]
        if not np.isfinite(seconds).all():
            raise BagError(f'{self.name}: the time of some rows is missing')
        times = np.rint(seconds * 1e9).astype(np.int64)
        return JointRows(self._group, times, times, values)

    def _check_times(self) -> None:
        timed = [t.path for t in self._tables if any(c.kind == TIME for c in t.columns)]
        if self._rate is None and not timed:
            raise BagError(
                f'{self.name} has no column of times (time, t or stamp, in s): state the sampling '
                'rate with --csv-rate HZ'
            )

    def _unequal_text(self) -> str:
        sizes = [f'{t.path} has {sum(map(len, t.blocks()))} rows' for t in self._tables]
        return f'{", ".join(sizes)}: expected as many in each, with nothing between'


class _CsvTable:
    """One file: its columns, and its numbers in blocks."""

    def __init__(self, path: Path, field: str | None, rules: Sequence[str]) -> None:
        self.path = path
        self.notes: list[str] = []
        with self._opened() as stream:
            self._header_lines, first = _first_line(stream)
        if not first:
            raise BagError(f'{path} is empty')
        self._delimiter = next((mark for mark in (';', '\t', ',') if mark in first), None)
        cells = [cell.strip() for cell in first.split(self._delimiter)]
        has_header = not all(_is_number(cell) for cell in cells)
        self._header_lines += has_header
        self.columns = self._meanings(cells, field, rules, has_header=has_header)

    def blocks(self) -> Iterator[Matrix]:
        """Stream the numbers, (n, number of columns)."""
        with self._opened() as stream:
            for _ in islice(stream, self._header_lines):
                pass
            line = self._header_lines
            while lines := list(islice(stream, CHUNK)):
                yield self._numbers(lines, line)
                line += len(lines)

    def _opened(self) -> TextIO:
        try:
            return self.path.open(encoding='utf-8-sig', errors='replace')
        except OSError as err:
            raise BagError(f'{self.path} cannot be read: {err.strerror}') from err

    def _meanings(
        self, cells: Sequence[str], field: str | None, rules: Sequence[str], *, has_header: bool
    ) -> tuple[CsvColumn, ...]:
        if rules and len(rules) != len(cells):
            raise BagError(f'{self.path} has {len(cells)} columns, but {len(rules)} are stated')
        if not rules and not has_header:
            raise BagError(
                f'{self.path} has no header: state its {len(cells)} columns with --csv-columns, '
                'as in: time position:elbow effort:elbow'
            )
        columns = columns_of_rules(rules) if rules else columns_of_header(cells, field)
        named = [(column.kind, column.joint) for column in columns if column.joint]
        if not named:
            raise BagError(
                f'{self.path}: no column is understood; it has: {", ".join(cells[:12])}; expected '
                'names such as position_JOINT and effort_JOINT, or --csv-columns'
            )
        if twice := {pair for pair in named if named.count(pair) > 1}:
            kind, joint = min(twice)
            raise BagError(f'{self.path} has two columns with the {kind} of {joint}')
        unused = [cell for cell, column in zip(cells, columns) if column.kind == UNUSED]
        if unused and not rules:
            self.notes.append(f'{self.path.name}: not used: {", ".join(unused[:12])}')
        return columns

    def _numbers(self, lines: list[str], line: int) -> Matrix:
        if not any(map(str.strip, lines)):
            return np.zeros((0, len(self.columns)))
        try:
            numbers = np.loadtxt(lines, delimiter=self._delimiter, comments='#', ndmin=2)
        except ValueError:
            numbers = None
        if numbers is None or numbers.shape != (len(lines), len(self.columns)):
            return self._numbers_one_by_one(lines, line)
        return numbers

    def _numbers_one_by_one(self, lines: list[str], line: int) -> Matrix:
        rows = []
        for number, text in enumerate(lines, start=line + 1):
            text = text.split('#')[0].strip()
            if not text:
                continue
            cells = text.split(self._delimiter)
            where = f'{self.path}, line {number}'
            if len(cells) != len(self.columns):
                raise BagError(f'{where}: {len(cells)} cells, expected {len(self.columns)}')
            for cell in cells:
                if not _is_number(cell):
                    raise BagError(f"{where}: '{cell.strip()}' is not a number")
            rows.append([float(cell) if cell.strip() else np.nan for cell in cells])
        return np.array(rows).reshape(-1, len(self.columns))


def _first_line(stream: TextIO) -> tuple[int, str]:
    """Return the number of lines before the first one with content, and that line."""
    for number, line in enumerate(stream):
        if line.strip() and not line.startswith('#'):
            return number, line.strip()
    return 0, ''


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip() or 'nan')
    except ValueError:
        return False
    return True

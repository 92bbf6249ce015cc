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

"""Plain-text tables: aligned columns, numbers to the right, one style for every tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import math

Cell = str | int | float | None


def format_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    title: str = '',
    digits: int = 4,
    right: Sequence[str] = (),
) -> str:
    """
    Lay out a table as text.

    Columns whose cells are all numbers (or missing) are aligned to the right, others to the left.

    Parameters
    ----------
    headers : sequence of str
        One name for each column; a unit belongs in it, as in ``'rmse [N m]'``.
    rows : iterable of sequences
        The cells; None is shown as ``-``.
    title : str
        Line above the table.
    digits : int
        Significant digits of floating-point cells.
    right : sequence of str
        Headers of further columns to align to the right, for numbers that were formatted before.

    Returns
    -------
    text : str
        Lines without trailing spaces and without a final newline.

    Examples
    --------
    >>> print(format_table(['joint', 'rmse [N m]'], [['elbow', 1.25], ['wrist', 0.5]]))
    joint  rmse [N m]
    -----  ----------
    elbow        1.25
    wrist         0.5

    """
    body = [list(row) for row in rows]
    texts = [[format_number(cell, digits) for cell in row] for row in body]
    widths = [
        max(len(header), *(len(row[column]) for row in texts)) if texts else len(header)
        for column, header in enumerate(headers)
    ]
    numeric = [
        header in right or (bool(body) and all(not isinstance(row[column], str) for row in body))
        for column, header in enumerate(headers)
    ]
    lines = [title] if title else []
    lines.append(_line(headers, widths, numeric))
    lines.append('  '.join('-' * width for width in widths))
    lines += [_line(row, widths, numeric) for row in texts]
    return '\n'.join(lines)


def format_number(value: Cell, digits: int = 4) -> str:
    """
    Format one cell: text as it is, whole numbers in full, others to `digits` significant digits.

    Examples
    --------
    >>> format_number(12.34567), format_number(0.0), format_number(1.5e-7), format_number(None)
    ('12.35', '0', '1.5e-07', '-')

    """
    if value is None:
        return '-'
    if isinstance(value, (str, bool, int)):
        return str(value)
    value = float(value)
    if math.isnan(value):
        return 'nan'
    if abs(value) >= 10**digits and math.isfinite(value):
        return f'{value:.0f}' if abs(value) < 1e9 else f'{value:.{digits - 1}e}'
    return f'{value:.{digits}g}'


def format_percent(fraction: float | None, digits: int = 3) -> str:
    """
    Format a fraction as percent.

    Examples
    --------
    >>> format_percent(0.12716)
    '12.7 %'

    """
    if fraction is None or not math.isfinite(fraction):
        return '-'
    percent = 100.0 * fraction
    return f'{percent:.{digits}g} %' if abs(percent) < 10**digits else f'{percent:.0f} %'


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric)
    )
    return '  '.join(padded).rstrip()

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
"""A page in one file: text, tables and pictures, with nothing to load from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from robot_dynamics_ros.report.atomic import write_text
from robot_dynamics_ros.report.figure import GRID, INK, MODEL, MUTED
from robot_dynamics_ros.report.table import Cell, format_number

GOOD = '#2f7d4f'
BAD = '#b3261e'
_STYLE = f"""
body {{ font: 15px/1.5 system-ui, sans-serif; color: {INK}; max-width: 76rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; margin-bottom: 0; }}
h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
p.note {{ color: {MUTED}; margin-top: .2rem; }}
div.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; font-size: .85rem; color: {MUTED}; }}
th, td {{ padding: .3rem .9rem .3rem 0; border-bottom: 1px solid {GRID}; white-space: nowrap; }}
td.number {{ text-align: right; }}
tr.marked td {{ color: {MODEL}; font-weight: bold; }}
p.badge {{ display: inline-block; padding: .5rem 1rem; border-radius: .4rem; color: white;
  font-weight: bold; }}
p.good {{ background: {GOOD}; }}
p.bad {{ background: {BAD}; }}
img {{ max-width: 100%; height: auto; }}
canvas {{ width: 100%; border: 1px solid {GRID}; touch-action: none; }}
"""


class HtmlPage:
    """
    Collect the parts of a page.

    Parameters
    ----------
    title : str
        Heading, and title of the window.
    note : str
        Line below the heading.

    """

    def __init__(self, title: str, note: str = '') -> None:
        self._title = title
        self._parts = [f'<h1>{escape(title)}</h1>']
        self.add_note(note)

    def add_heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f'<h2>{escape(text)}</h2>')

    def add_note(self, text: str) -> None:
        """Add small print; nothing for an empty text."""
        if text:
            self._parts.append(f'<p class="note">{escape(text)}</p>')

    def add_badge(self, text: str, *, is_good: bool) -> None:
        """Add a sentence that nobody overlooks, in the colour of what it says."""
        self._parts.append(f'<p class="badge {"good" if is_good else "bad"}">{escape(text)}</p>')

    def add_table(
        self,
        headers: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        marked: int | Iterable[int] | None = None,
    ) -> None:
        """
        Add a table.

        Parameters
        ----------
        headers : sequence of str
            One name for each column.
        rows : iterable of sequences
            The cells; numbers are formatted and aligned to the right.
        marked : int or iterable of int, optional
            Rows to set off from the others.

        """
        chosen = {marked} if isinstance(marked, int) else set(marked or ())
        head = ''.join(f'<th>{escape(header)}</th>' for header in headers)
        lines = [f'<div class="wide"><table><tr>{head}</tr>']
        for index, row in enumerate(rows):
            cells = ''.join(_cell(cell) for cell in row)
            lines.append(f'<tr{" class=marked" if index in chosen else ""}>{cells}</tr>')
        self._parts.append('\n'.join(lines) + '</table></div>')

    def add_picture(self, path: Path, text: str) -> None:
        """Put a PNG file into the page, with a text for those who do not see it."""
        data = base64.b64encode(path.read_bytes()).decode('ascii')
        self._parts.append(f'<img alt="{escape(text)}" src="data:image/png;base64,{data}">')

    def add_markup(self, markup: str) -> None:
        """Add HTML as it is; whoever calls has escaped it."""
        self._parts.append(markup)

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """
        Write the page, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and `overwrite` is false, or cannot be written.

        """
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f'<title>{escape(self._title)}</title><style>{_STYLE}</style></head><body>\n'
            + '\n'.join(self._parts)
            + '\n</body></html>\n'
        )
        write_text(path, text, overwrite=overwrite)


def _cell(cell: Cell) -> str:
    is_text = isinstance(cell, str) and not cell.endswith('%')
    kind = '' if cell is None or is_text else ' class="number"'
    return f'<td{kind}>{escape(format_number(cell))}</td>'

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

"""The look of all figures: matplotlib without a display and without global state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.report.atomic import staged_file

INK = '#22303c'
MUTED = '#7b8794'
GRID = '#e3e8ee'
MEASURED = '#22303c'
MODEL = '#e4572e'
PALETTE = ('#e4572e', '#2e86ab', '#4c9f70', '#8f5fbf', '#e0a100', '#d1588f', '#5b6770')
"""Colours of series, in this order."""

_STYLE: Any = {
    'font.size': 9.0,
    'font.family': 'DejaVu Sans',
    'text.color': INK,
    'axes.edgecolor': MUTED,
    'axes.labelcolor': INK,
    'axes.titlesize': 9.5,
    'axes.titleweight': 'bold',
    'axes.titlelocation': 'left',
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.grid': True,
    'axes.axisbelow': True,
    'grid.color': GRID,
    'grid.linewidth': 0.8,
    'xtick.color': MUTED,
    'ytick.color': MUTED,
    'xtick.labelcolor': INK,
    'ytick.labelcolor': INK,
    'legend.frameon': False,
    'lines.linewidth': 1.2,
    'lines.solid_capstyle': 'round',
    'figure.facecolor': 'white',
    'agg.path.chunksize': 20000,
}


@contextmanager
def new_figure(
    path: str | Path,
    width: float,
    height: float,
    *,
    title: str = '',
    subtitle: str = '',
    overwrite: bool = False,
) -> Iterator[Figure]:
    """
    Give an empty figure in the common style; it is saved as PNG when the block ends.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    width, height : float
        Size [inch], at 130 dots per inch.
    title, subtitle : str
        Text above everything; the subtitle in small print.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    with staged_file(path, overwrite=overwrite) as temporary, matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout='constrained')
        FigureCanvasAgg(figure)
        yield figure
        _put_titles(figure, title, subtitle, height)
        figure.savefig(temporary, format='png', dpi=130, metadata={'Software': None})


def label_panel(axes: Axes, title: str, note: str = '') -> None:
    """Put a bold title above the left end of a panel and a small note above its right end."""
    axes.set_title(title)
    if note:
        axes.set_title(note, loc='right', fontsize=8.0, fontweight='normal', color=MUTED)


def thinned_rows(*series: Vector, bins: int = 1500) -> NDArray[np.intp]:
    """
    Pick the rows of long series that show in a figure.

    Parameters
    ----------
    series : ndarray, shape (n,)
        Series that are drawn over the same times.
    bins : int
        Number of pieces, about one for each pixel; each keeps the least and the greatest value of
        each series.

    Returns
    -------
    rows : ndarray of int
        All rows of series that are short enough.

    """
    count = len(series[0])
    if count <= 4 * bins:
        return np.arange(count)
    length = -(-count // bins)
    starts = np.arange(0, count, length)
    picked = [np.array([0, count - 1])]
    for values in series:
        for fill, choose in ((np.inf, np.argmin), (-np.inf, np.argmax)):
            padded = np.full(len(starts) * length, fill)
            padded[:count] = np.where(np.isnan(values), fill, values)
            best = choose(padded.reshape(-1, length), axis=1)
            picked.append(np.minimum(starts + best, count - 1))
    return np.unique(np.concatenate(picked))


def _put_titles(figure: Figure, title: str, subtitle: str, height: float) -> None:
    lines = bool(title) + 0.75 * (subtitle.count('\n') + 1 if subtitle else 0)
    room = (0.26 * lines + 0.06) / height
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0.008, 0.008, 0.984, 0.992 - room))
    top = 1.0 - 0.08 / height
    if title:
        figure.text(0.012, top, title, fontsize=12.0, fontweight='bold', va='top', ha='left')
        top -= 0.26 / height
    if subtitle:
        figure.text(0.012, top, subtitle, fontsize=8.5, color=MUTED, va='top', ha='left')

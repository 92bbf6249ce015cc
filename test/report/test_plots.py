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

from matplotlib.image import imread
import matplotlib.pyplot
import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import OutputError
from robot_dynamics_ros.report.figure import thinned_rows
from robot_dynamics_ros.report.torque_comparison import compare_torques
from robot_dynamics_ros.report.torque_plots import (
    plot_torque_comparison,
    plot_torque_errors,
    plot_torque_terms,
)
from robot_dynamics_ros.report.tracking_plots import plot_tracking_errors, TrackingError


def drawn(path: Path, width: int) -> bool:
    """Tell whether a PNG has the width and something other than one colour in it."""
    pixels = imread(path)
    return pixels.shape[1] == width and bool(pixels[..., :3].std() > 0.01)


@pytest.mark.parametrize('count', [1, 3])
def test_torque_figures_are_drawn_for_any_number_of_joints(tmp_path: Path, count: int) -> None:
    stamps = np.linspace(0.0, 5.0, 400)
    names = [f'joint_{index}' for index in range(count)]
    measured = np.sin(np.outer(stamps, np.arange(1, count + 1)))
    measured[100:120] = np.nan
    model = 0.9 * np.nan_to_num(measured)
    comparison = compare_torques(names, measured, model)
    width = 1040 if count == 1 else 1560
    plot_torque_comparison(
        tmp_path / 'a.png', stamps, measured, model, names, comparison=comparison
    )
    assert drawn(tmp_path / 'a.png', width)
    plot_torque_comparison(tmp_path / 'b.png', stamps, None, model, names, subtitle='one\ntwo')
    assert drawn(tmp_path / 'b.png', width)
    terms = {'inertia': model, 'coriolis': 0.1 * model, 'friction': 0.0 * model}
    plot_torque_terms(tmp_path / 'c.png', stamps, terms, names, units=['N'] * count)
    assert drawn(tmp_path / 'c.png', width)
    plot_torque_errors(tmp_path / 'd.png', {'one': comparison, 'two': comparison})
    assert drawn(tmp_path / 'd.png', 1248)


def test_tracking_figure_is_drawn_and_its_numbers_are_right(tmp_path: Path) -> None:
    stamps = np.linspace(0.0, 2.0, 300)
    error = np.outer(np.sin(stamps), [1e-3, -4e-3])
    run = TrackingError(stamps, error)
    assert run.largest == pytest.approx(4e-3, rel=1e-4)  # sin reaches 1 between two samples
    assert run.rms == pytest.approx(np.sqrt(np.mean(error**2)))
    perfect = TrackingError(stamps, 0.0 * error)
    runs = {'pick_place': {'pd': run, 'perfect': perfect}, 'aggressive': {'pd': run}}
    plot_tracking_errors(tmp_path / 'a.png', runs)
    assert drawn(tmp_path / 'a.png', 1430)


def test_long_series_keep_their_peaks() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 100_003))
    one[5000:9000] = np.nan
    rows = thinned_rows(one, two)
    assert len(rows) <= 4 * 1500 + 2
    for peak in (np.nanargmin(one), np.nanargmax(one), np.argmin(two), np.argmax(two)):
        assert peak in rows
    assert rows[0] == 0 and rows[-1] == 100_002
    assert np.isnan(one[rows]).any()  # the gap stays a gap
    assert len(thinned_rows(one[:6000])) == 6000


def test_figures_are_not_overwritten_and_touch_no_global_state(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    stamps, torque = np.linspace(0.0, 1.0, 50), np.zeros((50, 1))
    plot_torque_comparison(tmp_path / 'a.png', stamps, torque, torque, ['a'])
    with pytest.raises(OutputError, match='exists'):
        plot_torque_comparison(tmp_path / 'a.png', stamps, torque, torque, ['a'])
    plot_torque_comparison(tmp_path / 'a.png', stamps, torque, torque, ['a'], overwrite=True)
    assert dict(matplotlib.rcParams) == before
    assert matplotlib.pyplot.get_fignums() == []

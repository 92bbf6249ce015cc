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
import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import OutputError
from robot_dynamics_ros.core.simulation.motion_energy import MotionEnergy
from robot_dynamics_ros.report.energy_plot import plot_motion_energies


def made(integrator: str, dt: float, size: float) -> MotionEnergy:
    time = np.arange(0.0, 1.0, dt)
    return MotionEnergy(integrator, dt, time, np.sin(time) + size * time, -np.sin(time))


@pytest.mark.parametrize('size', [1e-3, 0.0])  # without any error there is no logarithm
def test_figure_has_a_panel_for_each_step_and_one_for_the_energies(
    tmp_path: Path, size: float
) -> None:
    runs = [made('rk4', dt, size) for dt in (1e-3, 1e-2)] + [made('adaptive', 0.1, 0.0)]
    plot_motion_energies(tmp_path / 'a.png', runs, subtitle='some robot')
    plot_motion_energies(tmp_path / 'b.png', runs[-1:])
    one, two = imread(tmp_path / 'a.png'), imread(tmp_path / 'b.png')
    assert one.shape[1] == two.shape[1] == 1170  # 9 inches
    assert one.shape[0] - two.shape[0] == pytest.approx(2.6 * 130, abs=2)  # one panel more
    assert one[..., :3].std() > 0.01
    with pytest.raises(OutputError, match='exists'):
        plot_motion_energies(tmp_path / 'a.png', runs)

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

"""An arm on a wall, whose description stands on the floor: `identify --fit-gravity` sees it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.tools.cli import main

START = 1_700_000_000_000_000_000
ES5 = urdf_path('es5.urdf.xacro')
GRAVITY = np.array([6.0, -2.0, -7.5])  # [m/s^2]


def test_tilted_arm_shows_its_gravity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = float(np.linalg.norm(GRAVITY))
    robot = load_urdf(ES5, gravity=GRAVITY * 9.81 / size)
    stated = FrictionModel.from_file(config_path('es5_friction.yaml'), robot.v_names)
    rubs = dry_friction(robot, stated.viscous, stated.coulomb_positive, 1.3)
    log = simulated_log(robot, rubs, 20.0, rate=250.0, size=0.9, is_compensated=True)
    noise = np.array([0.5, 0.5, 0.3, 0.1, 0.1, 0.05])
    log = log.with_noise(np.random.default_rng(0), 1e-5, 1e-3, noise)
    bag, out = tmp_path / 'log', tmp_path / 'out'
    with BagWriter(bag) as writer:
        for t, q, v, tau in zip(log.stamps, log.position, log.velocity, log.effort):
            stamp = START + round(float(t) * 1e9)
            writer.write_joint_state('/joint_states', stamp, robot.v_names, q, v, tau)
    arguments = ['identify', str(bag), '--urdf', str(ES5), '--output', str(out)]
    arguments += ['--friction', 'coulomb', '--prior-weight', '1']
    assert main(arguments) == 1  # tilted by 40 degrees: no body explains the efforts
    assert main([*arguments, '--fit-gravity', '--overwrite']) == 0
    assert 'gravity that the efforts show (--fit-gravity)' in capsys.readouterr().out
    report = json.loads((out / 'report.json').read_text(encoding='utf-8'))
    found = np.array(report['gravity'])
    print(found, GRAVITY * 9.81 / size)
    assert np.linalg.norm(found) == pytest.approx(9.81, rel=1e-5)
    cosine = float(found @ GRAVITY) / (9.81 * size)
    # Friction that the fit does not have moves it by less than a degree.
    assert np.degrees(np.arccos(min(cosine, 1.0))) < 1.0

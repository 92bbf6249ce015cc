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

"""The report of an identification as the start of what goes on from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identification_scenes import dry_friction, simulated_log, two_link_urdf
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.offline_result import read_offline_result
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.running_model import RunningModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.tools.cli import main

JOINTS = ('shoulder', 'elbow')


@pytest.fixture(scope='module')
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('results')
    (folder / 'arm.urdf').write_text(two_link_urdf())
    robot = load_urdf(folder / 'arm.urdf')
    friction = dry_friction(robot, np.array([1.5, 0.8]), np.array([2.0, 1.0]), 1.3)
    log = simulated_log(robot, friction, 14.0, rate=200.0, size=1.2)
    log = log.with_noise(np.random.default_rng(0), 1e-5, 1e-3, np.array([0.5, 0.2]))
    log.record(folder / 'bag', JOINTS)
    command = ['identify', folder / 'bag', '--urdf', folder / 'arm.urdf', '--output']
    assert main([*map(str, command), str(folder / 'found')]) == 0
    return folder / 'found'


def changed(results: Path, tmp_path: Path, change: Any) -> Path:
    """Return the report with something else in it."""
    report = json.loads((results / 'report.json').read_text())
    change(report)
    path = tmp_path / 'report.json'
    path.write_text(json.dumps(report))
    return path


def test_report_gives_back_the_fit_with_its_covariance(results: Path) -> None:
    robot = load_urdf(two_link_urdf())
    found = read_offline_result(results / 'report.json', robot)
    report = json.loads((results / 'report.json').read_text())
    np.testing.assert_allclose(
        np.sqrt(np.diag(found.covariance)),
        [entry['deviation'] for entry in report['base_parameters']],
        rtol=1e-9,
    )
    assert np.linalg.eigvalsh(found.covariance)[0] > 0.0
    np.testing.assert_allclose(found.model.base.to_base(found.parameters), found.base, rtol=1e-9)
    assert found.is_fit
    assert found.is_held_out
    assert report['command'].startswith('robot_dynamics identify ')
    assert (
        found.relative_error == report['errors']['held_out']['identified']['filtered']['relative']
    )
    assert found.joint_errors.shape == found.spread.shape == (2,)
    # The written robot moves as the parameters of the report say.
    written = load_urdf(results / 'identified.urdf')
    q, v, a = np.array([0.3, -0.4]), np.array([0.5, 0.2]), np.array([1.0, -2.0])
    n = found.model.n_inertial
    np.testing.assert_allclose(
        rnea(written, q, v, a),
        found.model.efforts(
            np.append(found.parameters[:n], np.zeros(len(found.model.terms))),
            *map(_row, (q, v, a)),
        )[0],
        rtol=1e-6,
    )
    np.testing.assert_allclose(dynamic_parameters(written)[0], found.parameters[0], rtol=1e-6)


def test_arm_without_noise_raises_no_alarm(tmp_path: Path) -> None:
    """What a fit leaves of a simulation is far less than what slower motion shows of friction."""
    (tmp_path / 'arm.urdf').write_text(two_link_urdf())
    robot = load_urdf(tmp_path / 'arm.urdf')
    friction = dry_friction(robot, np.array([1.5, 0.8]), np.array([2.0, 1.0]), 1.3)
    simulated_log(robot, friction, 14.0, rate=200.0, size=1.2).record(tmp_path / 'bag', JOINTS)
    command = ['identify', tmp_path / 'bag', '--urdf', tmp_path / 'arm.urdf', '--output']
    assert main([*map(str, command), str(tmp_path / 'found')]) == 0
    found = read_offline_result(tmp_path / 'found' / 'report.json', robot)
    settings = OnlineSettings(found.cutoff, found.motion_cutoff, payload_frame='l2')
    running = RunningModel(found, settings)
    for began, size, seed in ((0.0, 1.2, 0), (25.0, 0.25, 3), (50.0, 1.2, 5)):
        running.forget_motion()
        log = simulated_log(robot, friction, 20.0, rate=200.0, size=size, seed=seed)
        for stamp, q, tau in zip(log.stamps, log.position, log.effort):
            running.step(began + float(stamp), q, tau)
        assert running.refusal == ''
        assert running.health().level == 'ok', running.health().sentence
    assert not running.changes


def _row(values: np.ndarray) -> np.ndarray:
    return values[None, :]


def test_report_of_another_robot_is_refused(results: Path) -> None:
    path = results / 'report.json'
    with pytest.raises(ConfigurationError, match="another robot than 'arm'"):
        read_offline_result(path, load_urdf(two_link_urdf(length=0.4)))
    renamed = load_urdf(two_link_urdf().replace('elbow', 'knee'))
    with pytest.raises(ConfigurationError, match='joints shoulder, elbow, this one has .*knee'):
        read_offline_result(path, renamed)


def test_files_that_are_no_report_are_refused_in_one_line(results: Path, tmp_path: Path) -> None:
    robot = load_urdf(two_link_urdf())

    def refusal(path: Path) -> str:
        with pytest.raises(ConfigurationError) as caught:
            read_offline_result(path, robot)
        text = str(caught.value)
        assert '\n' not in text
        assert str(path) in text
        return text

    assert 'cannot be read' in refusal(tmp_path / 'nothing.json')
    (tmp_path / 'text.json').write_text('friction: none')
    assert 'is no report' in refusal(tmp_path / 'text.json')
    assert "no entry 'base_covariance'" in refusal(
        changed(results, tmp_path, lambda report: report.pop('base_covariance'))
    )
    assert 'base_covariance' in refusal(
        changed(results, tmp_path, lambda report: report['base_covariance'].pop())
    )
    assert "friction form 'magic'" in refusal(
        changed(results, tmp_path, lambda r: r['structure'].update(friction='magic'))
    )

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

from argparse import Namespace
import importlib.util
import json
from pathlib import Path
import shutil
from typing import Any

import numpy as np
import pytest

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.tools import log_reader
from robot_dynamics_ros.tools.cli import main
from robot_dynamics_ros.tools.log_work import work_on_logs

PENDULUM = """<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0.1 0 -0.4"/><mass value="{mass}"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="50" velocity="9"/></joint>
</robot>"""


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a description and three logs of a heavier pendulum."""
    path = tmp_path_factory.mktemp('many')
    (path / 'rod.urdf').write_text(PENDULUM.format(mass=1.0), encoding='utf-8')
    robot = load_urdf(PENDULUM.format(mass=1.3))
    friction = dry_friction(robot, np.array([0.3]), np.array([0.2]))
    for seed in range(3):
        log = simulated_log(robot, friction, 8.0, rate=200.0, seed=seed, size=1.2)
        log = log.with_noise(np.random.default_rng(seed), 1e-5, 1e-3, np.array([0.05]))
        with BagWriter(path / f'log{seed}') as bag:
            for t, q, v, tau in zip(log.stamps, log.position, log.velocity, log.effort):
                bag.write_joint_state(
                    '/joint_states', 10**18 + round(t * 1e9), ['pivot'], q, v, tau
                )
    return path


def identified(folder: Path, out: Path, *arguments: object) -> dict[str, Any]:
    """Return the report of an identification from all three logs."""
    logs = [str(folder / f'log{k}') for k in range(3)]
    urdf, more = str(folder / 'rod.urdf'), [str(word) for word in arguments]
    fixed = ['--urdf', urdf, '--output', str(out), '--friction', 'coulomb', '--force']
    assert main(['identify', *logs, *fixed, '--prior-weight', '10', *more]) == 0
    content = json.loads((out / 'report.json').read_text())
    assert isinstance(content, dict)
    return content


def same_numbers(one: dict[str, Any], other: dict[str, Any]) -> None:
    for key in ('parameters', 'base_parameters'):
        for mine, its in zip(one[key], other[key]):
            # The same sums in the same order.
            assert its['value'] == pytest.approx(mine['value'], rel=1e-9, abs=1e-12)
    for key in ('errors', 'training', 'held_out', 'structure', 'filter', 'notes'):
        assert one[key] == other[key]


def test_processes_give_what_one_alone_gives(folder: Path, tmp_path: Path) -> None:
    alone = identified(folder, tmp_path / 'alone', '--processes', 1)
    shared = identified(folder, tmp_path / 'shared', '--processes', 2)
    same_numbers(alone, shared)
    assert len(alone['training']) == len(alone['held_out']) == 3
    moment = next(p for p in alone['base_parameters'] if p['formula'] == 'rod/hz')
    assert moment['value'] == pytest.approx(-0.4 * 1.3, rel=0.03)  # noise, and the filter's share
    assert alone['errors']['held_out']['identified']['filtered']['relative'] < 0.1


def test_dask_gives_what_one_process_gives(folder: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec('distributed') is None:
        pytest.skip('distributed is not installed')
    from distributed import LocalCluster

    alone = identified(folder, tmp_path / 'alone', '--processes', 1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        shared = identified(folder, tmp_path / 'dask', '--dask', cluster.scheduler_address)
    same_numbers(alone, shared)


def test_log_too_long_to_remember_gives_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ('--processes', 1, '--cutoff', 8, '--train', '1:5')
    whole = identified(folder, tmp_path / 'whole', *given)
    monkeypatch.setattr(log_reader, 'BLOCK', 150)
    monkeypatch.setattr(log_reader, 'KEPT', 20_000)  # 620 of 1600 samples
    same_numbers(whole, identified(folder, tmp_path / 'again', *given))


def test_readable_part_of_a_truncated_log_is_used_and_the_loss_is_said(
    folder: Path, tmp_path: Path
) -> None:
    for k in range(3):
        shutil.copytree(folder / f'log{k}', tmp_path / f'log{k}')
    (file,) = (tmp_path / 'log1').glob('*.mcap')
    with file.open('r+b') as stream:
        stream.truncate(file.stat().st_size * 7 // 10)
    shutil.copy(folder / 'rod.urdf', tmp_path)
    found = identified(tmp_path, tmp_path / 'out', '--processes', 1)
    whole, cut = found['training'][0]['samples'], found['training'][1]['samples']
    assert 0.5 * whole < cut < 0.9 * whole
    (lost,) = [note for note in found['notes'] if 'messages of /joint_states were read' in note]
    read = int(lost.split()[0])
    assert lost == f'{read} of 1600 messages of /joint_states were read'
    assert any('is truncated or damaged' in note for note in found['notes'])
    held_out = found['held_out'][1]['samples']
    assert cut + held_out == read


def test_log_that_a_process_cannot_use_is_named_in_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = tmp_path / 'lost'
    logs = [str(folder / 'log0'), str(lost)]
    out = tmp_path / 'out'
    fixed = ['--urdf', str(folder / 'rod.urdf'), '--output', str(out), '--train', '0:5']
    with BagWriter(lost) as bag:
        for k in range(100):
            bag.write_joint_state('/joint_states', 10**18 + k * 10**7, ['other'], [0.1 * k])
    for processes in ('1', '2'):
        assert main(['identify', *logs, *fixed, '--processes', processes]) == 1
        error = capsys.readouterr().err
        assert f'{lost}' in error
        assert 'has no joint pivot' in error
        # Beside progress, which a slow machine shows.
        assert sum('robot_dynamics identify:' in line for line in error.splitlines()) == 1
        assert 'Traceback' not in error
        assert not out.exists()


def test_missing_dask_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'distributed', None)
    args = Namespace(dask='tcp://127.0.0.1:1', processes=None)
    with pytest.raises(ConfigurationError, match='pip install distributed'):
        with work_on_logs(args, 2):
            pass
    both = Namespace(dask='tcp://127.0.0.1:1', processes=2)
    with pytest.raises(ConfigurationError, match='exclude each other'):
        with work_on_logs(both, 2):
            pass

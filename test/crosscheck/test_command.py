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

"""`robot_dynamics crosscheck`."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.core.arrays import frozen
from robot_dynamics_ros.core.model import kernel_layout
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.crosscheck import crosscheck_model
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.tools import crosscheck
from robot_dynamics_ros.tools.cli import main
from shared_data import shared_path

pytest.importorskip('pinocchio')


def chain_urdf(count: int) -> str:
    links = ''.join(
        f'<link name="l{i}"><inertial><mass value="0.1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        for i in range(count + 1)
    )
    joints = ''.join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/></joint>'
        for i in range(count)
    )
    return f'<robot name="chain">{links}{joints}</robot>'


def test_table_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['crosscheck', str(urdf_path('pendulum.urdf')), '--samples', '2']) == 0
    output = capsys.readouterr()
    assert 'generalized_gravity' in output.out
    assert 'passed' in output.out.splitlines()[-1]
    assert output.err == ''


def test_xacro_with_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(urdf_path('es5.urdf.xacro'))
    arguments = ['--samples', '2', '--xacro-arg', 'inertia_set:=es5_cylinder']
    assert main(['crosscheck', path, *arguments]) == 0
    assert 'passed' in capsys.readouterr().out


def test_json_holds_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(urdf_path('planar_2r_rods.urdf'))
    assert main(['crosscheck', path, '--json', '--samples', '3', '--seed', '7']) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report['samples'], report['seed'], report['ok']) == (3, 7, True)
    assert all(row['ok'] and row['max_relative_difference'] <= 1e-10 for row in report['rows'])


def test_mismatch_exits_1_and_names_quantity_and_joint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A model whose packed array says 1 g more for the second link than its description."""
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    kernel = np.array(model.kernel)
    kernel[2, kernel_layout.MASS] += 1e-3
    report = crosscheck_model(replace(model, kernel=frozen(kernel)), samples=2)
    assert crosscheck.show(report, as_json=False) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert 'failed: rnea differs' in last
    assert "joint 'joint_1'" in last
    assert crosscheck.show(report, as_json=True) == 1
    assert json.loads(capsys.readouterr().out)['ok'] is False


def test_too_deep_a_chain_is_one_line_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'chain.urdf'
    path.write_text(chain_urdf(1500))
    assert main(['crosscheck', str(path)]) == 2
    output = capsys.readouterr()
    assert output.out == ''
    assert len(output.err.splitlines()) == 1
    assert 'skipped' in output.err
    assert main(['crosscheck', str(path), '--json']) == 2
    assert json.loads(capsys.readouterr().out)['rows'] == []


def test_refused_file_is_one_line_and_exit_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'nothing.urdf'
    path.write_text('<robot name="nothing">')
    assert main(['crosscheck', str(path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    'name',
    [
        'A01_leaf_no_inertial',
        'A02_massless_intermediate_ok',
        'A03_massless_intermediate_parallel_axes',
        'A04_base_inertia',
        'A05_fixed_lumping',
        'A06_inertial_rpy',
        'A07_axis_nonunit',
        'A07b_axis_oblique_nonunit',
        'A09_axis_missing',
        'A10_axis_negative',
        'A11_mimic',
        'A11b_mimic_chain',
        'A12_continuous',
        'A13_prismatic',
        'A15b_effort_negative',
        'A17_same_name_link_joint',
        'A36b_friction_negative',
        'A37_order',
    ],
)
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
def test_hard_inputs_that_are_legal_pass(
    name: str, floating: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pinocchio refuses or misreads some of these files; it gets a cleaned copy."""
    path = str(shared_path('cases', 'urdf', f'{name}.urdf'))
    options = ['--floating-base'] if floating else []
    assert main(['crosscheck', path, '--samples', '2', *options]) == 0, capsys.readouterr().out


def test_help_names_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(['crosscheck', '--help'])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert all(option in text for option in ('--samples', '--seed', '--json', '--floating-base'))
    assert crosscheck.HELP

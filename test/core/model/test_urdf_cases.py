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

"""Every file of group A: its findings as `inspect` reports them, and its dynamics in numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import aba, crba, generalized_gravity, rnea
from robot_dynamics_ros.core.exceptions import SingularMassMatrixError, UrdfError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.tools.cli import main
from shared_data import shared_path

Expected = list[tuple[str, str, str, Any]]

CLEAN: Expected = []
MASSLESS_L1: Expected = [('info', 'link_massless', "link 'l1'", 0.0)]
FINDINGS: dict[str, Expected] = {
    'A01_leaf_no_inertial': [
        ('warning', 'moves_no_inertia', "joint 'j2'", 0.0),
        ('info', 'link_massless', "link 'l2'", 0.0),
    ],
    'A02_massless_intermediate_ok': MASSLESS_L1,
    'A03_massless_intermediate_parallel_axes': [
        ('warning', 'moves_no_inertia', "joint 'j1'", 0.0),
        *MASSLESS_L1,
    ],
    'A04_base_inertia': [('info', 'root_inertia', "link 'base'", 10.0)],
    'A05_fixed_lumping': CLEAN,
    'A06_inertial_rpy': CLEAN,
    'A07_axis_nonunit': [('warning', 'axis_not_unit', "joint 'j1'", 1.5)],
    'A07b_axis_oblique_nonunit': [('warning', 'axis_not_unit', "joint 'j1'", 2.0**0.5)],
    'A08_axis_zero': [('error', 'axis_zero', "joint 'j1'", 0.0)],
    'A09_axis_missing': [('info', 'axis_missing', "joint 'j1'", None)],
    'A10_axis_negative': CLEAN,
    'A11_mimic': CLEAN,
    'A11b_mimic_chain': CLEAN,
    'A12_continuous': [('info', 'limit_absent', "joint 'j1'", None)],
    # The slide reaches 3 m out: 2 * 0.5 * 9.81 + (1 + 0.25 + 3) * 9.81 N m, the limit is 50.
    'A13_prismatic': [('warning', 'gravity_exceeds_effort', "joint 'j1'", 51.5025)],
    'A15_effort0_velocity0': [('warning', 'limit_not_stated', "joint 'j1'", 0.0)],
    'A15b_effort_negative': [('warning', 'limit_not_stated', "joint 'j1'", -1.0)],
    'A16_no_limit_revolute': [('error', 'limit_missing', "joint 'j1'", None)],
    'A16c_limit_reversed': [('error', 'limit_reversed', "joint 'j1'", 2.0)],
    'A17_same_name_link_joint': [('info', 'name_shared', "'a'", None)],
    'A20_two_parents': [('error', 'link_two_parents', "link 'l2'", 2.0)],
    'A20b_cycle': [('error', 'kinematic_cycle', "link 'a'", 2.0)],
    'A21_leading_newline': CLEAN,
    'A21b_bom': CLEAN,
    'A22_decimal_comma': [('error', 'number_wrong', "link 'l1'", 4.0)],
    'A22b_underscore': [('error', 'number_wrong', "link 'l1'", 4.0)],
    'A22c_nan_mass': [('error', 'number_wrong', "link 'l1'", 4.0)],
    'A23_billion_laughs': [('error', 'xml_doctype', 'FILE', None)],
    'A23b_xxe': [('error', 'xml_doctype', 'FILE', None)],
    'A36_damping_friction': CLEAN,
    'A36b_friction_negative': [
        ('warning', 'damping_negative', "joint 'j1'", -0.7),
        ('warning', 'friction_negative', "joint 'j1'", -0.4),
    ],
    'A37_order': CLEAN,
    'A38_missing_mesh': [('info', 'mesh_missing', 'robot', 1.0)],
    'A47_fixed_axis_zero': CLEAN,
}


def case(name: str) -> Path:
    return shared_path('cases', 'urdf', f'{name}.urdf')


def load(name: str, **options: Any) -> RobotModel:
    return load_urdf(case(name), **options)


def test_no_file_is_left_out() -> None:
    files = shared_path('cases', 'urdf').glob('*.urdf')
    assert {path.stem for path in files} == {*FINDINGS, 'A39_deep_chain_1500'}


@pytest.mark.parametrize('name', FINDINGS)
def test_inspect_reports_exactly_these_findings(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = case(name)
    code = main(['inspect', str(path), '--json'])
    out, err = capfd.readouterr()
    assert err == ''
    report = json.loads(out)
    expected = FINDINGS[name]
    refused = any(severity == 'error' for severity, *_ in expected)
    assert code == (1 if refused else 0)
    assert report['accepted'] is not refused
    got = [(f['severity'], f['code'], f['subject'], f['value']) for f in report['findings']]
    assert [item[:3] for item in got] == [
        (s, c, str(path) if subject == 'FILE' else subject) for s, c, subject, _ in expected
    ]
    for (*_, value), (*_, wanted) in zip(got, expected):
        # The numbers are those of the file; one square root at most.
        assert value == (wanted if wanted is None else pytest.approx(wanted, rel=1e-15))
    assert all('\n' not in f['message'] for f in report['findings'])


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('A08_axis_zero', "joint 'j1'"),
        ('A16_no_limit_revolute', "joint 'j1'"),
        ('A20_two_parents', "link 'l2': it is the child of joints 'j2' and 'j3'"),
        ('A20b_cycle', "joints 'ba', 'ab'"),
        ('A22_decimal_comma', "link[@name='l1']/inertial/mass/@value"),
        ('A22b_underscore', "'1_0'"),
        ('A22c_nan_mass', "'nan'"),
    ],
)
def test_refusal_names_the_place(name: str, text: str) -> None:
    with pytest.raises(UrdfError) as caught:
        load(name)
    assert text in str(caught.value)
    assert '\n' not in str(caught.value)


# Figures of the README of the cases; they are printed there with six or more digits or are closed
# forms.
GRAVITY: dict[str, list[float]] = {
    'A01_leaf_no_inertial': [-9.81, 0.0],
    'A03_massless_intermediate_parallel_axes': [0.0, 0.0],
    'A04_base_inertia': [-9.81],
    'A05_fixed_lumping': [-18.0504],
    'A07_axis_nonunit': [-9.81],
    'A07b_axis_oblique_nonunit': [-9.81 / 2**0.5],
    'A09_axis_missing': [0.0],
    'A10_axis_negative': [9.81],
    'A11_mimic': [-9.81 + 2.0 * 2.4525 * np.cos(0.3)],
    'A11b_mimic_chain': [
        -9.81 - 2.0 * 2.4525 * np.cos(0.1) + 2.0 * 0.5 * 9.81 * 0.2 * np.cos(0.1)
    ],
    'A12_continuous': [-9.81],
    'A13_prismatic': [-22.0725, 0.0],
    'A15_effort0_velocity0': [-9.81],
    'A15b_effort_negative': [-9.81],
    'A17_same_name_link_joint': [-9.81],
    'A21_leading_newline': [-9.81],
    'A21b_bom': [-9.81],
    'A36_damping_friction': [-9.81],
    'A36b_friction_negative': [-9.81],
    'A38_missing_mesh': [-9.81],
    'A47_fixed_axis_zero': [-9.81],
}
MASS_MATRIX: dict[str, list[list[float]]] = {
    'A01_leaf_no_inertial': [[0.51, 0.0], [0.0, 0.0]],
    'A02_massless_intermediate_ok': [[0.0725, 0.0], [0.0, 0.0725]],
    'A03_massless_intermediate_parallel_axes': [[0.0725, 0.0725], [0.0725, 0.0725]],
    'A04_base_inertia': [[0.51]],
    'A05_fixed_lumping': [[1.394]],
    'A06_inertial_rpy': [[2.0]],
    'A07_axis_nonunit': [[0.51]],
    'A07b_axis_oblique_nonunit': [[0.26]],
    'A09_axis_missing': [[0.01]],
    'A10_axis_negative': [[0.51]],
    'A11_mimic': [[0.80]],
    'A11b_mimic_chain': [[0.92]],
    'A12_continuous': [[0.51]],
    'A13_prismatic': [[2.0825, 0.0], [0.0, 1.0]],
    'A38_missing_mesh': [[0.51]],
    'A47_fixed_axis_zero': [[0.51]],
}


@pytest.mark.parametrize('name', GRAVITY)
def test_gravity_torque(name: str) -> None:
    model = load(name)
    gravity = generalized_gravity(model, np.zeros(model.nq))
    # A handful of products of numbers near 10.
    np.testing.assert_allclose(gravity, GRAVITY[name], atol=1e-13)


@pytest.mark.parametrize('name', MASS_MATRIX)
def test_mass_matrix(name: str) -> None:
    model = load(name)
    mass_matrix = crba(model, np.zeros(model.nq))
    np.testing.assert_allclose(mass_matrix, MASS_MATRIX[name], atol=1e-14)


def test_printed_figures_of_the_readme_agree_with_the_closed_forms() -> None:
    for name, figure in (
        ('A07b_axis_oblique_nonunit', -6.936718),
        ('A11_mimic', -5.124075),
        ('A11b_mimic_chain', -12.738297),
    ):
        assert GRAVITY[name][0] == pytest.approx(figure, abs=6e-7)  # six printed decimals


def test_free_acceleration_of_the_base_snippet() -> None:
    model = load('A10_axis_negative')
    acceleration = aba(model, np.zeros(1), np.zeros(1), np.zeros(1))
    assert acceleration[0] == pytest.approx(-9.81 / 0.51, rel=1e-14)


def test_massless_link_between_crossed_axes_falls_as_it_should() -> None:
    model = load('A02_massless_intermediate_ok')
    acceleration = aba(model, np.zeros(2), np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(acceleration, [0.0, 2.4525 / 0.0725], atol=1e-12)
    assert acceleration[1] == pytest.approx(33.827586, abs=6e-7)


@pytest.mark.parametrize(
    ('name', 'joint'),
    [('A01_leaf_no_inertial', 'j2'), ('A03_massless_intermediate_parallel_axes', 'j1')],
)
def test_forward_dynamics_without_inertia_is_refused_by_name(name: str, joint: str) -> None:
    model = load(name)
    with pytest.raises(SingularMassMatrixError, match=f"'{joint}' moves no inertia"):
        aba(model, np.zeros(2), np.zeros(2), np.zeros(2))
    armed = model.with_armature({joint: 0.1})
    assert np.isfinite(aba(armed, np.zeros(2), np.zeros(2), np.zeros(2))).all()


def test_base_inertia_counts_in_the_total_and_on_a_floating_base() -> None:
    model = load('A04_base_inertia')
    assert (model.moving_mass, model.total_mass) == (2.0, 12.0)
    floating = load('A04_base_inertia', floating_base=True)
    assert floating.moving_mass == 12.0


def test_lumped_frame_stays_addressable() -> None:
    model = load('A05_fixed_lumping')
    assert model.moving_mass == 2.8
    np.testing.assert_allclose(model.frame('tool').translation, [1.0, 0.0, 0.0], atol=1e-15)


def test_rotated_inertial_frame_counts() -> None:
    model = load('A06_inertial_rpy')
    torque = rnea(model, np.zeros(1), np.zeros(1), np.ones(1)) - generalized_gravity(
        model, np.zeros(1)
    )
    assert torque[0] == pytest.approx(2.0, abs=1e-14)
    inertial = model.description.links[1].inertial
    assert inertial is not None
    np.testing.assert_allclose(inertial.inertia, np.diag([2.0, 1.0, 2.5]), atol=1e-15)


def test_mimics_leave_one_degree_of_freedom() -> None:
    for name in ('A11_mimic', 'A11b_mimic_chain'):
        model = load(name)
        assert model.joint_names == ('j1',)
    assert (model.mimics['j3'].multiplier, model.mimics['j3'].joint) == (-2.0, 'j1')
    assert model.mimics['j3'].offset == pytest.approx(0.1, abs=1e-15)


def test_continuous_joint_is_one_angle_without_limits() -> None:
    model = load('A12_continuous')
    assert (model.nq, model.nv) == (1, 1)
    assert (model.limits.lower[0], model.limits.upper[0]) == (-np.inf, np.inf)


@pytest.mark.parametrize('name', ['A15_effort0_velocity0', 'A15b_effort_negative'])
def test_useless_limits_are_not_stated(name: str) -> None:
    model = load(name)
    assert np.isnan(model.limits.effort[0])
    assert np.isnan(model.limits.velocity[0])
    assert (model.limits.lower[0], model.limits.upper[0]) == (-3.0, 3.0)


def test_lenient_reading_takes_a_missing_limit_as_none() -> None:
    model = load('A16_no_limit_revolute', strict=False)
    assert (model.limits.lower[0], model.limits.upper[0]) == (-np.inf, np.inf)
    assert [(f.code, f.severity) for f in model.findings] == [('limit_missing', 'warning')]
    with pytest.raises(UrdfError, match='lower limit 1 is above'):
        load('A16c_limit_reversed', strict=False)


def test_friction_of_the_file() -> None:
    model = load('A36_damping_friction')
    assert (model.damping[0], model.friction[0]) == (0.7, 0.4)
    negative = load('A36b_friction_negative')
    assert (negative.damping[0], negative.friction[0]) == (0.0, 0.0)


def test_joint_order_is_that_of_the_file() -> None:
    model = load('A37_order')
    assert model.joint_names == ('joint_2', 'joint_10', 'joint_1')
    gravity = generalized_gravity(model, np.zeros(3))
    np.testing.assert_allclose(gravity, [-3.924, -0.981, -8.829], atol=1e-14)


def test_chain_of_1500_links_is_inspected_and_moves(capfd: pytest.CaptureFixture[str]) -> None:
    path = case('A39_deep_chain_1500')
    assert main(['inspect', str(path), '--json']) == 0
    report = json.loads(capfd.readouterr().out)
    assert report['nv'] == 1500
    assert report['moving_mass'] == pytest.approx(15.0, rel=1e-12)
    # Stretched out, n links of 10 g and 1 cm need 0.01 * 9.81 * 0.01 * n^2 / 2 N m: above the
    # limit of 50 from n = 320.
    findings = report['findings']
    assert {(f['severity'], f['code']) for f in findings} == {
        ('warning', 'gravity_exceeds_effort')
    }
    assert [f['subject'] for f in findings] == [f"joint 'q{k}'" for k in range(1500 - 319)]
    assert findings[0]['value'] == pytest.approx(0.5e-4 * 9.81 * 1500**2, rel=1e-12)

    assert main(['inspect', str(path)]) == 0
    assert len(capfd.readouterr().out.splitlines()) < 1600
    model = load_urdf(path)
    assert np.isfinite(rnea(model, np.zeros(1500), np.ones(1500), np.ones(1500))).all()

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

from dataclasses import replace
import json
import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest

from robot_dynamics_ros.core.arrays import frozen
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model import kernel_layout
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.crosscheck import crosscheck_model
from robot_dynamics_ros.crosscheck.ledger import relative_difference, ROUNDING_FLOOR, worst_place
from robot_dynamics_ros.crosscheck.quantities import Comparison
from robot_dynamics_ros.resources import urdf_path
from robots import body, joint, named_models, pendulum, robot, X, Y

pytest.importorskip('pinocchio')


def damaged(model: RobotModel, row: int, column: int, change: float) -> RobotModel:
    """Return a model whose packed array no longer says what its description says."""
    kernel = np.array(model.kernel)
    kernel[row, column] += change
    return replace(model, kernel=frozen(kernel))


def chain(count: int, kind: str) -> RobotDescription:
    links = [body(f'l{i}', 0.1, (0.05, 0, 0), (1e-3, 1e-3, 1e-3)) for i in range(count)]
    kinds = [*[kind] * (count - 1), 'revolute']
    joints = [
        joint(
            f'j{i}', kinds[i], f'l{i - 1}' if i else 'base', f'l{i}', axis=Y, translation=0.1 * X
        )
        for i in range(count)
    ]
    return robot('chain', links, joints)


def test_agreement_is_reported() -> None:
    report = crosscheck_model(named_models()['six_axis'], samples=3)
    assert report.ok
    assert report.first_mismatch is None
    assert report.skipped == ''
    assert report.summary.startswith("cross-check of 'six_axis' with Pinocchio")
    assert 'passed' in report.summary
    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))['ok'] is True


def test_same_seed_gives_the_same_report() -> None:
    model = named_models()['mobile']
    assert crosscheck_model(model, 3, seed=5) == crosscheck_model(model, 3, seed=5)
    assert crosscheck_model(model, 3, seed=5) != crosscheck_model(model, 3, seed=6)


def test_every_frame_is_visited() -> None:
    model = named_models()['random_1']
    report = crosscheck_model(model, samples=2)
    row = next(row for row in report.rows if row.quantity == 'frame_rotation')
    assert row.comparisons >= len(model.frames)


@pytest.mark.parametrize(
    'column, change',
    [
        (kernel_layout.MASS, 1e-6),
        (kernel_layout.TRANSLATION, 1e-6),
        (kernel_layout.INERTIA, 1e-6),
        (kernel_layout.ARMATURE, 1e-6),
        (kernel_layout.OFFSET, 1e-6),
        (kernel_layout.FIRST_MOMENT + 1, 1e-6),
    ],
    ids=['mass', 'translation', 'inertia', 'armature', 'offset', 'first moment'],
)
def test_small_damage_of_any_kind_is_found_and_named(column: int, change: float) -> None:
    report = crosscheck_model(damaged(named_models()['six_axis'], 3, column, change), samples=3)
    assert not report.ok
    assert report.first_mismatch is not None
    assert report.first_mismatch.quantity in report.summary
    assert 'failed' in report.summary
    # One part in 1e6 is above the tolerance of 1e-10, in the largest digits of the robot.
    assert 1e-10 < report.first_mismatch.max_relative_difference < 1e-3


def test_wrong_gravity_is_found_in_gravity_terms_only() -> None:
    model = damaged(named_models()['branched'], 0, kernel_layout.GRAVITY + 2, 1e-5)
    failed = {row.quantity for row in crosscheck_model(model, samples=3).rows if not row.ok}
    assert 'generalized_gravity' in failed
    assert 'potential_energy' in failed
    assert 'crba' not in failed
    assert 'coriolis_matrix' not in failed


def test_singular_mass_matrix_leaves_forward_dynamics_out_with_a_note() -> None:
    links = [
        body('arm', 2.0, (0.5, 0, 0), (0.01, 0.01, 0.01)),
        body('tip', 0.0, (0, 0, 0), (0, 0, 0)),
    ]
    joints = [
        joint('j1', 'revolute', 'base', 'arm', axis=Y),
        joint('j2', 'revolute', 'arm', 'tip', axis=Y, translation=X),
    ]
    report = crosscheck_model(build_model(robot('leaf', links, joints)), samples=2)
    assert report.ok
    assert "'j2' moves no inertia" in report.notes[0]
    assert not {'aba', 'mass_matrix_inverse'} & {row.quantity for row in report.rows}


def test_robot_that_does_not_move_is_skipped() -> None:
    report = crosscheck_model(build_model(robot('still', [], [])))
    assert report.skipped == 'no joint moves'
    assert not report.ok


def test_robot_without_mass_has_no_center_of_mass_to_compare() -> None:
    links = [body('a', 0.0, (0, 0, 0), (0, 0, 0))]
    model = build_model(robot('empty', links, [joint('j', 'revolute', 'base', 'a', axis=Y)]))
    report = crosscheck_model(model, samples=2)
    assert report.ok, report.summary
    assert 'center_of_mass' not in {row.quantity for row in report.rows}


@pytest.mark.parametrize('kind, reason', [('revolute', 'too many'), ('fixed', 'too deep')])
def test_what_pinocchio_cannot_hold_is_skipped_with_the_reason(kind: str, reason: str) -> None:
    report = crosscheck_model(build_model(chain(1500, kind)))
    assert reason in report.skipped
    assert report.rows == ()
    assert 'skipped' in report.summary
    assert '\n' not in report.summary


def test_no_samples_and_impossible_seeds_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='samples is 0'):
        crosscheck_model(build_model(pendulum()), samples=0)
    with pytest.raises(ConfigurationError, match='seed is -1'):
        crosscheck_model(build_model(pendulum()), seed=-1)


# ------------------------------------------------------------------ relative differences


def test_difference_is_relative_to_the_largest_entry() -> None:
    comparison = Comparison('x', [1.0, 2.0 + 1e-6], [1.0, 2.0], labels=['a', 'b'])
    assert relative_difference(comparison) == pytest.approx(5e-7)
    assert worst_place(comparison) == 'b'


def test_two_zeros_agree() -> None:
    assert relative_difference(Comparison('x', np.zeros(3), np.zeros(3))) == 0.0
    assert relative_difference(Comparison('x', np.zeros((3, 0)), np.zeros((3, 0)))) == 0.0


def test_something_beside_zero_differs_without_bound() -> None:
    assert relative_difference(Comparison('x', [1e-9], [0.0])) == np.inf


def test_rounding_of_cancelled_terms_is_measured_by_the_terms() -> None:
    comparison = Comparison('x', [1e-15], [-1e-15], natural_size=10.0)
    assert relative_difference(comparison) == pytest.approx(2e-15 / (10.0 * ROUNDING_FLOOR))


@pytest.mark.parametrize('ours', [np.nan, np.inf])
def test_numbers_that_are_not_finite_differ(ours: float) -> None:
    comparison = Comparison('x', [0.0, ours], [0.0, 1.0], 5.0, labels=['a', 'b'])
    assert relative_difference(comparison) == np.inf
    assert worst_place(comparison) == 'b'


def test_another_shape_differs() -> None:
    comparison = Comparison('x', np.ones((2, 1)), np.ones(2), labels=['a', 'b'])
    assert relative_difference(comparison) == np.inf
    assert 'shape' in worst_place(comparison)


# ------------------------------------------------------------------ without Pinocchio

BLOCKED = """
import sys
sys.modules['pinocchio'] = None  # as if it were not installed
from robots import pendulum
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.crosscheck import crosscheck_model
report = crosscheck_model(build_model(pendulum()))
assert not report.ok and not report.rows
print(report.summary)
"""

UNTOUCHED = """
import sys
import robot_dynamics_ros.core.dynamics
import robot_dynamics_ros.core.model
import robot_dynamics_ros.crosscheck
assert not any(name.split('.')[0] == 'pinocchio' for name in sys.modules)
print('clean')
"""


def python(code: str) -> str:
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(root), str(root / 'test')])
    run = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': paths},
        timeout=300,
        check=True,
    )
    return run.stdout.strip()


def test_missing_pinocchio_is_said_in_one_line() -> None:
    summary = python(BLOCKED)
    assert summary.startswith("cross-check of 'pendulum' skipped: Pinocchio is not installed")
    assert '\n' not in summary


def test_importing_the_package_does_not_import_pinocchio() -> None:
    assert python(UNTOUCHED) == 'clean'


def test_robot_with_a_joint_called_as_that_of_the_floating_base() -> None:
    text = urdf_path('planar_2r_rods.urdf').read_text().replace('"joint_1"', '"root_joint"')
    model = load_urdf(text, floating_base=True)
    assert model.joint_names == ('root_joint_1', 'root_joint', 'joint_2')
    report = crosscheck_model(model, samples=3)
    assert report.ok, report.summary

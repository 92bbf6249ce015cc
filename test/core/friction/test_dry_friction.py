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
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from solved_steps import dry_step

NAMES = ('j1', 'j2')


def random_law(rng: Any, n: int) -> DryFriction:
    """Return a law with every term, some of them zero in some joints."""
    zero_or = rng.uniform(size=(6, n)) > 0.2
    viscous, backward, positive, negative, load, _ = zero_or * rng.lognormal(0.0, 1.5, (6, n))
    return DryFriction(
        tuple(f'j{i}' for i in range(n)),
        viscous,
        positive,
        negative,
        rng.uniform(1.0, 3.0, n),
        rng.lognormal(-3.0, 1.0, n),
        load,
        backward,
    )


def test_every_static_model_only_takes_energy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        law = random_law(rng, 5)
        v = rng.normal(size=(50, 5)) * 10.0 ** rng.uniform(-6.0, 2.0, (50, 5))
        load = rng.normal(scale=30.0, size=(50, 5))
        power = v * law.torque(v, load)
        assert (power >= 0.0).all()
        has_friction = law.torque(v, load) != 0.0
        assert (power[has_friction] > 0.0).all()
        smooth = FrictionModel(
            law.joint_names,
            law.viscous,
            law.coulomb_positive,
            law.coulomb_negative,
            law.stribeck_velocity,
            law.viscous_negative,
        )
        assert (v * smooth.torque(v) >= 0.0).all()


def test_dry_friction_of_a_step_only_takes_energy() -> None:
    # The viscous part is that of the mean velocity: left out here, see the test of the plant.
    rng = np.random.default_rng(1)
    for _ in range(300):
        law = random_law(rng, 4)
        root = rng.normal(size=(4, 4))
        mass = root @ root.T + 0.05 * np.eye(4)
        packed = law.loaded(rng.normal(scale=10.0, size=4))
        v_new, friction = dry_step(packed, mass, rng.normal(size=4), rng.normal(size=4), 1e-2)
        assert (friction * v_new >= -1e-9 * (1.0 + np.abs(friction))).all()  # rounding over dt


def test_load_raises_the_levels_of_both_directions() -> None:
    law = DryFriction(NAMES, 0.0, 4.0, 3.0, 1.5, 0.05, [0.1, 0.0])  # type: ignore[arg-type]
    positive, negative = law.levels(np.zeros(2), [-20.0, 50.0])
    assert positive.tolist() == [9.0, 6.0]  # 1.5 (4 + 0.1 * 20)
    assert negative.tolist() == [7.5, 4.5]
    loaded = law.loaded([-20.0, 50.0])
    assert loaded[1].tolist() == [6.0, 4.0]
    assert loaded[2].tolist() == [5.0, 3.0]
    np.testing.assert_array_equal(loaded[[0, 3, 4, 5]], law.packed[[0, 3, 4, 5]])
    assert law.torque(np.array([-1.0, 1.0]), 10.0).tolist() == pytest.approx([-4.0, 4.0])


def test_loaded_joint_sticks_up_to_the_raised_level() -> None:
    law = DryFriction(('j1',), 0.0, 4.0, 4.0, 1.0, 0.05, 0.2)  # type: ignore[arg-type]
    mass, dt = np.array([[0.5]]), 1e-3
    for push, moves in ((4.9, False), (5.1, True)):
        v_free = np.array([dt * push / 0.5])
        packed = law.loaded([5.0])  # level 4 + 0.2 * 5 = 5
        v_new, friction = dry_step(packed, mass, np.zeros(1), v_free, dt)
        assert bool(v_new[0] > 0.0) is moves
        assert friction[0] == pytest.approx(min(push, 5.0), rel=1e-9)


def test_direction_chooses_the_viscous_friction() -> None:
    law = DryFriction(('j1',), 2.0, 0.0, 0.0, 1.0, 0.05, 0.0, 3.0)  # type: ignore[arg-type]
    assert law.torque(np.array([1.0]))[0] == 2.0
    assert law.torque(np.array([-1.0]))[0] == -3.0


def test_one_viscous_value_counts_for_both_directions() -> None:
    law = DryFriction(NAMES, [2.0, 1.0], 0.0, 0.0, 1.0, 0.05)  # type: ignore[arg-type]
    assert law.viscous_negative.tolist() == [2.0, 1.0]
    assert law.load_coefficient.tolist() == [0.0, 0.0]
    smooth = FrictionModel(NAMES, [2.0, 1.0], 0.4, 0.4, 0.05)  # type: ignore[arg-type]
    assert smooth.is_symmetric
    skewed = FrictionModel(NAMES, 2.0, 0.4, 0.4, 0.05, [2.0, 1.0])  # type: ignore[arg-type]
    assert not skewed.is_symmetric
    assert skewed.torque(np.array([-1.0, -1.0])) == pytest.approx([-2.4, -1.4])


def test_file_gives_load_and_direction(tmp_path: Path) -> None:
    path = tmp_path / 'friction.yaml'
    path.write_text(
        'friction:\n'
        '  j1: {viscous: 2, coulomb: 3, viscous_negative: 2.5, load_coefficient: 0.08}\n'
        '  j2: {viscous: 1, coulomb: 1, bristle_stiffness: 1.0e+5, bristle_damping: 30}\n'
    )
    law = DryFriction.from_file(path, NAMES)
    assert law.viscous_negative.tolist() == [2.5, 1.0]
    assert law.load_coefficient.tolist() == [0.08, 0.0]
    assert FrictionModel.from_file(path, NAMES).viscous_negative.tolist() == [2.5, 1.0]


@pytest.mark.parametrize(
    ('entry', 'match'),
    [
        ('load_coefficient: -0.1', "joint 'j1': load_coefficient is -0.1, expected >= 0"),
        ('viscous_negative: .inf', "joint 'j1': viscous_negative is inf"),
        ('viscous_negative: null', "joint 'j1': viscous_negative is None"),
        ('bristle_stiffness: 0', "joint 'j1': bristle_stiffness is 0, expected > 0"),
        ('bristle_damping: -1', "joint 'j1': bristle_damping is -1, expected >= 0"),
        ('load: 1', "unknown key 'load'; there are: .*load_coefficient"),
    ],
)
def test_bad_entries_are_refused(tmp_path: Path, entry: str, match: str) -> None:
    path = tmp_path / 'friction.yaml'
    path.write_text('friction:\n  j1: {viscous: 1, coulomb: 1, ' + entry + '}\n')
    with pytest.raises(ConfigurationError, match=match):
        DryFriction.from_file(path, ('j1',))


def test_bad_values_and_loads_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'j2': load_coefficient is -1"):
        DryFriction(NAMES, 1.0, 1.0, 1.0, 1.0, 0.05, [0.0, -1.0])  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="joint 'j1': viscous_negative is nan"):
        DryFriction(NAMES, 1.0, 1.0, 1.0, 1.0, 0.05, 0.0, np.nan)  # type: ignore[arg-type]
    law = DryFriction(NAMES, 1.0, 1.0, 1.0, 1.0, 0.05)  # type: ignore[arg-type]
    with pytest.raises(DimensionError, match='load has'):
        law.loaded([1.0])
    with pytest.raises(NonFiniteError, match='load holds'):
        law.loaded([1.0, np.inf])
    with pytest.raises(NotNumericError, match='load holds'):
        law.loaded(['x', 1.0])

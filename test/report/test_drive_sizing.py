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

import doctest
from typing import Any

import numpy as np
import pytest

from package_files import ROOT
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.half_cosine import half_cosine
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.report.drive_sizing import drive_sizing, DriveSizing
from robot_dynamics_ros.resources import config_path, urdf_path
import robots


def of_scenario(
    name: str,
    amplitude: float = 1.0,
    time_scale: float = 1.0,
    payload: float = 0.0,
    armature: Any = None,
) -> DriveSizing:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    if armature is not None:
        model = model.with_armature(armature)
    if payload:
        model = model.with_payload(Payload(payload, 'link_6'))
    motion = scenario(name, amplitude, time_scale)
    t = np.linspace(0.0, motion.duration, 4001)
    return drive_sizing(model, t, *motion.sample_many(t))


def test_sliding_mass_matches_the_closed_form() -> None:
    bob = robots.body('bob', 2.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    model = build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )
    t = np.linspace(0.0, 0.5, 5001)
    q, v, a = (np.asarray(x)[:, np.newaxis] for x in half_cosine(0.3, 0.5, t))
    sizing = drive_sizing(model, t, q, v, a)
    rate = np.pi / 0.5
    force = 2.0 * 0.3 / 2.0 * rate**2
    speed = 0.3 / 2.0 * rate
    assert sizing.total.peak_torque[0] == pytest.approx(force)
    assert sizing.total.rms_torque[0] == pytest.approx(force / np.sqrt(2.0), rel=1e-6)
    assert sizing.total.peak_velocity[0] == pytest.approx(speed)
    # cos x sin x is at most a half.
    assert sizing.total.peak_power[0] == pytest.approx(force * speed / 2.0, rel=1e-6)
    # The kinetic energy is put in and taken out.
    assert sizing.total.energy[0] == pytest.approx(2.0 * speed**2, rel=1e-6)


def test_aggressive_motion_needs_what_the_facts_say() -> None:
    sizing = of_scenario('aggressive')
    assert sizing.total.peak_torque[:2] == pytest.approx([297.0, 254.0], abs=0.5)
    assert sizing.total.peak_velocity[[0, 1, 3]] == pytest.approx([9.3, 6.2, 12.3], abs=0.05)
    assert sizing.critical == 0
    assert sizing.effort_use[0] > 1.9 and sizing.velocity_use[3] > 3.9
    assert sizing.most_used == 3
    # This one with the inertia of the rotors, as ratio^2 times their own.
    gears = np.array([101.0, 121.0, 101.0, 101.0, 101.0, 101.0])
    rotors = gears**2 * np.array([7e-5, 7e-5, 7e-5, 2e-5, 2e-5, 2e-5])
    slow = of_scenario('aggressive', 0.9, 4.0, armature=rotors)
    assert slow.total.peak_torque.max() == pytest.approx(77.0, abs=0.5)
    assert slow.total.peak_velocity.max() == pytest.approx(2.8, abs=0.05)
    assert np.fmax(slow.effort_use, slow.velocity_use).max() < 1.0


@pytest.mark.parametrize('name', ['shoulder_up', 'pick_place', 'all_axes'])
def test_terms_add_up_to_the_torque_of_the_motion(name: str) -> None:
    sizing = of_scenario(name)
    tau = rnea_batch(sizing.model, sizing.q, sizing.v, sizing.a)
    np.testing.assert_allclose(sizing.terms.total, tau, atol=1e-12)  # rounding of 100 N m
    assert sizing.model.joint_names[sizing.critical] == 'joint_2', 'it carries the arm'


def test_gravity_grows_in_proportion_to_the_load() -> None:
    plain, one, three = (of_scenario('pick_place', payload=kg) for kg in (0.0, 1.0, 3.0))
    gained = one.terms.gravity - plain.terms.gravity
    np.testing.assert_allclose(three.terms.gravity - plain.terms.gravity, 3.0 * gained, atol=1e-9)
    # The flange of the stretched arm is 0.82 m from axis 2, and lies 0.101 m beside that plane.
    assert abs(gained[0, 1]) == pytest.approx(9.81 * 0.82, rel=1e-6)


def test_friction_is_its_own_term() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    friction = FrictionModel.from_file(config_path('es5_friction.yaml'), model.joint_names)
    motion = scenario('all_axes')
    t = np.linspace(0.0, motion.duration, 2001)
    q, v, a = motion.sample_many(t)
    sizing = drive_sizing(model, t, q, v, a, friction)
    np.testing.assert_array_equal(sizing.terms.friction, friction.torque(v))
    # All that friction takes is lost: its power is never negative.
    assert (sizing.terms.friction * v >= 0.0).all()


def test_motion_of_one_sample_is_refused() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    with pytest.raises(TrajectoryError, match='no duration'):
        drive_sizing(model, np.zeros(1), *np.zeros((3, 1, 6)))


def test_experiments_of_the_page_come_out() -> None:
    failed, tried = doctest.testfile(
        str(ROOT / 'docs' / 'drive_sizing.md'), module_relative=False, encoding='utf-8'
    )
    assert tried > 8
    assert failed == 0

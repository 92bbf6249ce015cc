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

"""Distances of solids: against Pinocchio, their derivatives, and how fast they can change."""

from __future__ import annotations

import numpy as np
import pytest

from excitation_scenes import es5, es5_scene, FLOOR, PinocchioArm
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.pair_filter import link_solids
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.excitation.clearance import adapt_to_room, ClearanceScene
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.resources import urdf_path
from robots import body, joint, robot, X, Z

pytest.importorskip('coal')

RNG = np.random.default_rng(0)
POSES = RNG.uniform(-np.pi, np.pi, (150, 6))


def test_least_distance_is_that_of_pinocchio() -> None:
    arm = PinocchioArm()
    ours = es5_scene().distances(POSES, np.inf).min(axis=1)
    theirs = np.array([arm.least_distance(q) for q in POSES])
    # Bodies for coal are up to 0.02 mm smaller, which is taken off twice to be safe; and the
    # distances of coal have an accuracy of 1e-6. Where bodies overlap, how deep is another matter.
    apart = theirs > 0.0
    assert apart.sum() > 30
    np.testing.assert_allclose(ours[apart], theirs[apart], atol=1e-4)
    assert ((ours < 1e-4) == (theirs < 1e-4)).all()


def test_gradient_matches_finite_differences() -> None:
    scene, h = es5_scene(), 1e-6
    distance, gradient = scene.distances_with_gradient(POSES, 0.2)
    ahead, behind = (
        np.stack([scene.distances(POSES + s * h * e, np.inf) for e in np.eye(6)], axis=-1)
        for s in (1.0, -1.0)
    )
    expected = (ahead - behind) / (2.0 * h)
    near = (distance > 1e-3) & (distance < 0.2)
    error = np.abs(gradient - expected).max(axis=-1)[near]
    assert near.sum() > 200
    # Finite differences of distances with an accuracy of 1e-9; at edges there is no derivative.
    assert np.quantile(error, 0.8) < 1e-3
    assert np.median(error) < 1e-4


def test_no_distance_changes_faster_than_the_reach_says() -> None:
    scene = es5_scene()
    for size in (0.01, 0.3, 2.0):
        step = size * RNG.uniform(-1.0, 1.0, POSES.shape)
        change = np.abs(scene.distances(POSES + step, np.inf) - scene.distances(POSES, np.inf))
        allowed = np.abs(step) @ scene.reach.T
        # Where solids overlap, coal's depth is that of one direction, and may jump.
        apart = scene.distances(POSES, np.inf) > 0.0
        apart &= scene.distances(POSES + step, np.inf) > 0.0
        assert (change <= allowed + 1e-4)[apart].all()  # twice the inset, and coal's accuracy


def test_far_pairs_get_a_lower_bound_beyond_the_cutoff() -> None:
    scene = es5_scene()
    exact, bounded = scene.distances(POSES, np.inf), scene.distances(POSES, 0.05)
    assert (bounded <= exact + 1e-4).all()  # insets are taken off measured distances only
    far = bounded != exact
    assert far.any() and (bounded[far] >= 0.05).all()


def test_distance_to_a_slide_is_exact() -> None:
    """A ball on a rail above a ball on the ground: Pythagoras."""
    links = [body('slider', 1.0, (0, 0, 0), (1, 1, 1))]
    model = build_model(
        robot('rail', links, [joint('slide', 'prismatic', 'base', 'slider', axis=X)])
    )
    shapes = (CollisionShape('slider', 'sphere', 0.1, translation=(0, 0, 1.0)),)
    scene = ClearanceScene(model, link_solids(model, shapes), planes=[FLOOR])
    assert scene.names == (('slider', 'floor'),)
    distance, gradient = scene.distances_with_gradient([[0.5]], np.inf)
    assert distance[0, 0] == pytest.approx(1.05, abs=1e-6)  # coal's accuracy
    assert gradient[0, 0, 0] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(scene.reach, [[1.0]])


def test_pairs_that_always_overlap_are_left_out_and_named() -> None:
    links = [body(name, 1.0, (0, 0, 0), (1, 1, 1)) for name in ('one', 'two', 'three')]
    joints = [
        joint('first', 'revolute', 'base', 'one', axis=Z),
        joint('second', 'revolute', 'one', 'two', axis=Z),
        joint('third', 'revolute', 'two', 'three', axis=Z),
    ]
    model = build_model(robot('stack', links, joints))
    shapes = tuple(CollisionShape(name, 'sphere', 0.1) for name in ('one', 'three'))
    scene = ClearanceScene(model, link_solids(model, shapes))
    assert adapt_to_room(scene, np.zeros((3, 3)), 0.02) == (
        "'one' and 'three' always overlap and are not compared",
    )
    assert scene.count == 0


def test_pairs_without_room_keep_half_of_what_they_have() -> None:
    shapes = read_collisions(urdf_path('es5.urdf.xacro'))
    scene = ClearanceScene(es5(), link_solids(es5(), shapes), planes=[FLOOR])
    notes = adapt_to_room(scene, POSES, 0.05)
    lift = scene.names.index(('link_1', 'floor'))  # 39 mm whatever the arm does
    assert any("'link_1' and 'floor' are never farther apart than 39.0 mm" in n for n in notes)
    assert scene.required(0.05)[lift] == pytest.approx(0.0195, abs=1e-4)  # coal's accuracy
    assert scene.required(0.01)[lift] == 0.01


def test_unknown_names_are_refused() -> None:
    shapes = read_collisions(urdf_path('es5.urdf.xacro'))
    with pytest.raises(ConfigurationError, match="disabled_pairs names 'wall'"):
        ClearanceScene(es5(), link_solids(es5(), shapes), disabled=[('wall', 'link_1')])

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

import numpy as np
import pytest

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import Material, Plane
from robot_dynamics_ros.core.dynamics import frame_jacobian, generalized_gravity, rnea
from robot_dynamics_ros.core.dynamics.kinematics import (
    place_frame,
    ReferenceFrame,
    world_state,
)
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import Box, World
from robot_dynamics_ros.resources import urdf_path

START = np.array([0.2, -0.6, 1.2, -0.4, 0.7, 0.3])
ROTORS = (0.71, 1.02, 0.71, 0.2, 0.2, 0.2)
RADIUS = 0.02
FORCES = {'straight': [50.0, 0.0, 0.0], 'within the cone': [50.0, 8.0, -12.0]}
GAP = 0.003


def surroundings(kind: str, x: float) -> World:
    """Return a wall whose face is at `x` and looks back."""
    material = Material(friction=0.5)
    if kind == 'plane':
        return World((Plane('wall', np.array([-1.0, 0, 0]), np.array([x, 0, 0]), material),))
    box = Box('wall', np.array([0.2, 4.0, 4.0]), np.array([x + 0.1, 0, 0]), np.eye(3), material)
    return World(boxes=(box,))


@pytest.mark.parametrize('push', FORCES)
@pytest.mark.parametrize(
    ('wall', 'contact_model'), [('plane', 'rigid'), ('plane', 'compliant'), ('box', 'rigid')]
)
def test_es5_presses_a_wall_with_the_force_that_is_commanded(
    wall: str, contact_model: str, push: str
) -> None:
    if wall == 'box':
        pytest.importorskip('coal')
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    model = model.with_armature(dict(zip(model.v_names, ROTORS)))
    tip = CollisionShape('link_6', 'sphere', RADIUS, np.eye(3), [0.0, 0.0, 0.03])
    pose = place_frame(model.frame('link_6'), world_state(model, START))
    center = pose.translation + pose.rotation @ tip.translation
    world = surroundings(wall, center[0] + RADIUS + GAP)
    plant = Plant(model, world=world, collisions=[tip], contact_model=contact_model, q=START)
    force = np.array(FORCES[push])
    state = plant.state
    for _ in range(1500):
        pose = place_frame(model.frame('link_6'), world_state(model, state.q))
        jacobian = frame_jacobian(model, state.q, 'link_6', ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = pose.rotation @ tip.translation + [RADIUS, 0.0, 0.0]
        torque = generalized_gravity(model, state.q)
        torque += jacobian.T @ np.concatenate((force, np.cross(arm, force)))
        state = plant.step(torque - 10.0 * state.v, 1e-3)
    assert np.abs(state.v).max() < 1e-3  # static equilibrium
    (contact,) = state.contacts
    np.testing.assert_allclose(-contact.force, force, atol=0.01 * np.linalg.norm(force))
    # Inverse dynamics with the wrenches of the contact give the torque of the controller.
    np.testing.assert_allclose(
        rnea(model, state.q, state.v, state.a, state.wrenches), state.tau, atol=1e-9
    )

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

"""The five-link biped on the ground: single and double support, and a landing."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from contact_scenes import energy, floor
from robot_dynamics_ros.core.contact.collision_shapes import read_collisions
from robot_dynamics_ros.core.contact.impact import plastic_impact
from robot_dynamics_ros.core.dynamics import (
    crba,
    frame_jacobian,
    frame_placement,
    generalized_gravity,
    nonlinear_effects,
    ReferenceFrame,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]
FILE = 'five_link_biped_floating.urdf'


@cache
def biped() -> RobotModel:
    return load_urdf(urdf_path(FILE))


def standing(model: RobotModel, left: float, right: float, q: Array) -> Array:
    """Return `q` with the lower foot on the floor."""
    q = q.copy()
    plant = Plant(model, world=floor(), collisions=read_collisions(urdf_path(FILE)), q=q)
    del left, right
    q[1] -= plant._arrays.gap[: len(plant._set.rows)].min()
    return q


def plant_at(q: Array, v: Array | None = None, **options: Any) -> Plant:
    return Plant(
        biped(), world=floor(friction=1.0), collisions=read_collisions(urdf_path(FILE)), q=q, v=v,
        **options,
    )  # fmt: skip


def point_rows(model: RobotModel, q: Array, foot: str, plant: Plant) -> Array:
    """Return the Jacobian of the lowest point of a foot's sphere in x and z, by differences."""
    return frame_jacobian(model, q, foot, ReferenceFrame.LOCAL_WORLD_ALIGNED)[[0, 2]]


def test_double_support_carries_the_weight_like_statics() -> None:
    model = biped()
    q = np.zeros(7)
    q[3], q[5] = 0.25, -0.25  # legs straddled, knees straight
    q = standing(model, 0.25, -0.25, q)
    plant = plant_at(q)
    # Torques that hold this pose with symmetric feet: J^T f = g - tau with no torque at the base.
    gravity = generalized_gravity(model, q)
    points = [contact.point for contact in plant.state.contacts]
    assert len(points) == 2
    rows = []
    for link, point in zip(('left_shank', 'right_shank'), points):
        jacobian = frame_jacobian(model, q, link, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = point - frame_placement(model, q, link).translation
        linear = jacobian[:3] + np.cross(jacobian[3:].T, arm).T
        rows += [linear[0], linear[2]]
    j = np.array(rows)
    weight = 29.0 * 9.81
    force = np.array([20.0, weight / 2, -20.0, weight / 2])  # symmetric, with some spread
    tau = gravity - j.T @ force
    assert np.abs(tau[:3]).max() < 1e-9  # the base is not driven
    for _ in range(10):
        state = plant.step(tau, 0.01)
    np.testing.assert_allclose(state.q, q, atol=1e-9)
    forces = {contact.link: contact.force for contact in state.contacts}
    print('double support:', forces)
    total = sum(forces.values())
    np.testing.assert_allclose(total, [0.0, 0.0, weight], atol=1e-6)
    np.testing.assert_allclose(forces['left_shank'], [20.0, 0.0, weight / 2], atol=1e-5)
    assert state.residual < 1e-8


def test_single_support_moves_like_the_pinned_robot() -> None:
    """One foot sticks and rolls on its small sphere; the reference solves the rolling robot."""
    model = biped()
    q = np.zeros(7)
    q[3:7] = [0.15, 0.1, -0.8, 1.2]
    q = standing(model, 0.0, 0.0, q)
    shank = 'left_shank'

    def rows(q: Array) -> Array:
        """Jacobian of the contact point: below the centre of the foot's sphere."""
        jacobian = frame_jacobian(model, q, shank, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        place = frame_placement(model, q, shank)
        arm = place.rotation @ [0.0, 0.0, -0.385] + [0.0, 0.0, -0.015]
        return np.asarray((jacobian[:3] + np.cross(jacobian[3:].T, arm).T)[[0, 2]])

    def rate(_: float, x: Array) -> Array:
        q, v = x[:7], x[7:]
        step = 1e-6
        drift = (rows(q + step * v) - rows(q - step * v)) @ v / (2.0 * step)
        j, mass = rows(q), crba(model, q)
        kkt = np.block([[mass, -j.T], [j, np.zeros((2, 2))]])
        right = np.concatenate((-nonlinear_effects(model, q, v), -drift))
        return np.concatenate((v, np.linalg.solve(kkt, right)[:7]))

    true = solve_ivp(rate, (0.0, 0.15), np.concatenate((q, np.zeros(7))), rtol=1e-9, atol=1e-11)
    errors = {}
    for dt in (1e-3, 5e-4):
        plant = plant_at(q, dt_internal=dt)
        state = plant.step(np.zeros(7), 0.15)
        assert [contact.link for contact in state.contacts] == [shank]
        errors[dt] = np.abs(np.concatenate((state.q, state.v)) - true.y[:, -1]).max()
    print('single support: errors', errors)
    assert errors[5e-4] < 1e-4
    assert errors[1e-3] / errors[5e-4] > 3.0  # second order


def test_landing_on_one_foot_is_the_plastic_impact() -> None:
    model = biped()
    q = np.zeros(7)
    q[3:7] = [0.3, 0.05, -0.8, 1.2]
    q = standing(model, 0.0, 0.0, q)
    v = np.array([0.2, -1.0, 0.3, 0.1, -0.2, 0.4, 0.1])
    plant = plant_at(q, v)
    state = plant.state  # it collided at once
    j = []
    jacobian = frame_jacobian(model, q, 'left_shank', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    (contact,) = [c for c in state.contacts if c.impulse.any()]
    assert contact.link == 'left_shank'
    arm = contact.point - frame_placement(model, q, 'left_shank').translation
    j = (jacobian[:3] + np.cross(jacobian[3:].T, arm).T)[[2, 0]]
    mass = crba(model, q)
    moved = np.linalg.solve(mass, j.T)
    impulse = -np.linalg.solve(j @ moved, j @ v)
    np.testing.assert_allclose(state.v, v + moved @ impulse, atol=1e-8)
    np.testing.assert_allclose(contact.impulse[:2], impulse, atol=1e-7)
    # total momentum along z: the mass times the change of the velocity of its centre
    np.testing.assert_allclose((mass @ (state.v - v))[1], impulse[0], atol=1e-8)
    point, _ = plastic_impact(model, q, v, ['left_foot'])
    assert np.isfinite(point).all()


def test_falling_biped_never_gains_energy() -> None:
    model = biped()
    q = standing(model, 0.0, 0.0, np.array([0, 0, 0.1, 0.2, 0.1, -0.3, 0.4]))
    plant = plant_at(q)
    start, last = energy(plant), 0.0
    for _ in range(50):
        state = plant.step(np.zeros(7), 0.02)
        assert energy(plant, state) < start + 1e-3  # of some 150 J; second order in rolling
        last = max(last, abs(energy(plant, state) - start - sum(state.works)))
        assert state.residual < 1e-8
    print(f'falling biped: balance {last:.1e} J of {start:.0f} J')
    assert last < 0.5  # one Painlevé jam at 0.43 s stops the sliding foot within one step

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

"""A wrench that another simulator applies, found from its joint states."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import frame_placement, generalized_gravity, ReferenceFrame
from robot_dynamics_ros.core.external_torque.external_wrench import ExternalWrench
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.model import build_model
from robots import six_axis

mujoco = pytest.importorskip('mujoco')

FORCE = np.array([9.0, -6.0, 7.0])


def test_a_wrench_applied_by_mujoco_is_found() -> None:
    from benchmark.mujoco_models import mujoco_model

    model = build_model(six_axis()).with_armature(np.full(6, 0.2))
    twin = mujoco_model(model, option='timestep="0.0005" integrator="RK4"')
    data = mujoco.MjData(twin)
    data.qpos[:] = [0.4, -0.8, 1.1, 0.5, 0.9, 0.2]
    body = mujoco.mj_name2id(twin, mujoco.mjtObj.mjOBJ_BODY, 'link_6')
    data.xfrc_applied[body, :3] = FORCE  # at the centre of mass, in the axes of the world
    observer = MomentumObserver(MomentumBalance(model), 60.0)
    solver = ExternalWrench(model, 'link_6', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    fastest = 0.0
    for k in range(400):
        tau = generalized_gravity(model, data.qpos) - 6.0 * data.qvel
        tau += 3.0 * np.sin(0.01 * k + np.arange(6))
        data.qfrc_applied[:] = tau
        mujoco.mj_step(twin, data)
        observer.step(data.time, data.qpos.copy(), data.qvel.copy(), tau)
        fastest = max(fastest, float(np.abs(data.qvel).max()))
    assert fastest > 0.3  # it moves
    wrench = solver.step(data.qpos.copy(), observer.tau_ext)
    assert solver.levers[-1] > solver.smallest_lever
    # a lag of 17 ms behind a pose that turns by up to 1 rad/s: some percent
    np.testing.assert_allclose(wrench[:3], FORCE, atol=0.05 * np.linalg.norm(FORCE))
    links = {link.name: link.inertial for link in model.description.links}
    inertial = links['link_6']
    assert inertial is not None
    arm = frame_placement(model, data.qpos.copy(), 'link_6').rotation @ inertial.com
    np.testing.assert_allclose(wrench[3:], np.cross(arm, FORCE), atol=0.05)

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

"""
What the installed Pinocchio does right, found by asking it.

Versions from 2.7 on are supported. Where an old one lacks something, the cross-check must not
blame the robot; a small model with a known answer tells more than a table of versions.

"""

from __future__ import annotations

from typing import Any

import numpy as np


def knows_armature(pin: Any) -> bool:
    """Return whether the algorithms use the armature (2.7 does not)."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), 'rotor')
    model.armature = np.ones(1)
    mass_matrix = pin.crba(model, model.createData(), np.zeros(1))
    return float(np.ravel(mass_matrix)[0]) == 1.0


def right_jacobian_rates(pin: Any) -> set[str]:
    """
    Return the names of the reference frames in which the rate of a frame's Jacobian is right.

    In 2.7 it is wrong but for the world frame. Central differences judge.

    """
    model = pin.Model()
    step = pin.SE3(np.eye(3), np.array([0.3, 0.2, 0.1]))
    for name, kind in (('first', pin.JointModelRX()), ('second', pin.JointModelRY())):
        model.addJoint(model.njoints - 1, kind, step, name)
    turned = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    model.addBodyFrame('probe', 2, pin.SE3(turned, np.array([0.5, -0.4, 0.2])), 0)
    frame = model.getFrameId('probe')
    data = model.createData()
    q, v, dt = np.array([0.4, -0.7]), np.array([1.1, 0.6]), 1e-5
    right = set()
    for name in ('LOCAL', 'WORLD', 'LOCAL_WORLD_ALIGNED'):
        seen_from = getattr(pin.ReferenceFrame, name)
        ahead = pin.computeFrameJacobian(model, data, q + dt * v, frame, seen_from)
        behind = pin.computeFrameJacobian(model, data, q - dt * v, frame, seen_from)
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.updateFramePlacements(model, data)
        rate = pin.getFrameJacobianTimeVariation(model, data, frame, seen_from)
        if np.abs((ahead - behind) / (2.0 * dt) - rate).max() < 1e-6:
            right.add(name)
    return right

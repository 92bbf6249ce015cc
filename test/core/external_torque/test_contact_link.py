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

from robot_dynamics_ros.core.dynamics import frame_jacobian
from robot_dynamics_ros.core.exceptions import DimensionError, ModelError
from robot_dynamics_ros.core.external_torque.contact_link import ContactLocator
from robots import named_models

MODELS = named_models()
Q = np.array([0.4, -0.8, 1.1, 0.5, 0.9, 0.2])


@pytest.mark.parametrize('link', range(1, 7))
def test_link_is_that_of_the_outermost_loaded_joint(link: int) -> None:
    model = MODELS['six_axis']
    force = np.array([10.0, 5.0, -8.0, 0.4, 0.3, 0.9])
    tau = frame_jacobian(model, Q, f'link_{link}').T @ force
    found = ContactLocator(model).find(Q, tau, np.abs(tau) > 1e-9)
    assert found.joint == found.link.replace('link', 'joint') == f'joint_{link}'
    assert found.others == tuple(f'link_{i}' for i in range(link + 1, 7))
    if link < 6:
        assert found.line_point is None and 'components' in found.reason


def test_line_of_action_of_a_force_is_found() -> None:
    model = MODELS['six_axis']
    point, force = np.array([0.03, -0.02, 0.05]), np.array([10.0, 5.0, -8.0])
    wrench = np.append(force, np.cross(point, force))
    tau = frame_jacobian(model, Q, 'link_6').T @ wrench
    found = ContactLocator(model, smallest_lever=1e-3).find(Q, tau, np.ones(6))
    assert found.line_point is not None and found.line_direction is not None
    np.testing.assert_allclose(found.line_direction, force / np.linalg.norm(force), atol=1e-9)
    # the point lies on the line through the true one
    np.testing.assert_allclose(
        np.cross(found.line_point - point, found.line_direction), 0.0, atol=1e-9
    )
    assert found.line_point @ found.line_direction == pytest.approx(0.0, abs=1e-9)
    assert not found.reason


def test_a_moment_has_no_line_of_action() -> None:
    model = MODELS['six_axis']
    tau = frame_jacobian(model, Q, 'link_6').T @ np.array([1.0, 0, 0, 2.0, 0, 0])
    found = ContactLocator(model, smallest_lever=1e-3).find(Q, tau, np.ones(6))
    assert found.line_point is None and 'pitch' in found.reason


def test_branches_are_told_apart() -> None:
    model = MODELS['branched']
    names = model.v_names
    locator = ContactLocator(model)
    tau = np.ones(model.nv)

    def loaded(*joints: str) -> np.ndarray:
        return np.array([name in joints for name in names])

    q = np.full(model.nv, 0.3)
    assert locator.find(q, tau, loaded('waist', 'l1')).link == 'left_1'
    assert locator.find(q, tau, loaded('waist', 'l1')).others == ('left_2',)
    both = locator.find(q, tau, loaded('l2', 'r1'))
    assert not both.link and 'several branches' in both.reason
    assert locator.find(q, tau, loaded()).reason == 'no external torque'


def test_bad_input_is_refused() -> None:
    with pytest.raises(ModelError, match='one coordinate'):
        ContactLocator(MODELS['mobile'])
    with pytest.raises(DimensionError, match='tau_ext has'):
        ContactLocator(MODELS['six_axis']).find(Q, np.zeros(5), np.ones(6))

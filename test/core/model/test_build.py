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

"""From description to model: order, locks, active joints, lumping, payload, armature, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import (
    crba,
    frame_placement,
    generalized_gravity,
    integrate,
    rnea,
)
from robot_dynamics_ros.core.exceptions import (
    ModelError,
    NonFiniteError,
    NotNumericError,
    UnknownFrameError,
    UnknownJointError,
)
from robot_dynamics_ros.core.model import build_model, Payload, RobotDescription
from robot_dynamics_ros.core.model.description import Inertial, Joint, JointType, Link, Mimic

BODY = Inertial(2.0, np.array([0.1, 0.02, -0.05]), np.diag([0.03, 0.04, 0.05]))
Z = np.array([0.0, 0.0, 1.0])
Y = np.array([0.0, 1.0, 0.0])


def arm(*joints: Joint) -> RobotDescription:
    """Return the joints with the links that they name, all but the base with the same inertia."""
    names = dict.fromkeys(name for joint in joints for name in (joint.parent, joint.child))
    links = tuple(Link(name, None if name == 'base' else BODY) for name in names)
    return RobotDescription('arm', links, joints)


def revolute(name: str, parent: str, child: str, **more: Any) -> Joint:
    return Joint(
        name,
        more.pop('type', JointType.REVOLUTE),
        parent,
        child,
        translation=np.array([0.3, 0.0, 0.1]),
        axis=more.pop('axis', Y),
        **more,
    )


THREE = arm(
    revolute('a', 'base', 'la', axis=Z), revolute('b', 'la', 'lb'), revolute('c', 'lb', 'lc')
)


def test_order_is_depth_first_with_children_in_the_order_of_the_source() -> None:
    tree = arm(
        revolute('left', 'base', 'l1'),
        revolute('right', 'base', 'r1'),
        revolute('left_tip', 'l1', 'l2'),
        revolute('right_tip', 'r1', 'r2'),
    )
    model = build_model(tree)
    assert model.joint_names == ('left', 'left_tip', 'right', 'right_tip')
    assert model.body_names == ('l1', 'l2', 'r1', 'r2')
    assert model.joint_index('right') == 2


def test_locked_joint_is_the_fixed_joint_at_that_position() -> None:
    model = build_model(THREE, locked={'b': 0.4})
    whole = build_model(THREE)
    q, v, a = np.array([0.3, -0.7]), np.array([1.0, 2.0]), np.array([-1.0, 0.5])
    put = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    held = np.array([0.0, 0.4, 0.0])
    expected = put.T @ rnea(whole, put @ q + held, put @ v, put @ a)
    assert model.joint_names == ('a', 'c')
    # the same sums in another order: rounding of torques of some 10 N m
    np.testing.assert_allclose(rnea(model, q, v, a), expected, atol=1e-12)
    np.testing.assert_allclose(
        frame_placement(model, q, 'lb').translation,
        frame_placement(whole, put @ q + held, 'lb').translation,
        atol=1e-15,
    )


def test_active_joints_need_a_value_for_every_other() -> None:
    model = build_model(THREE, active_joints=['a'], locked={'b': 0.1, 'c': -0.2})
    assert model.joint_names == ('a',)
    with pytest.raises(ModelError, match="joint 'c' is neither active nor locked"):
        build_model(THREE, active_joints=['a'], locked={'b': 0.1})
    with pytest.raises(ModelError, match="'b' is both active and locked"):
        build_model(THREE, active_joints=['b'], locked={'b': 0.1})
    with pytest.raises(UnknownJointError, match="joint 'elbow' is not in the model"):
        build_model(THREE, active_joints=['elbow'])
    with pytest.raises(UnknownJointError, match='it has: a, b, c'):
        build_model(THREE, locked={'elbow': 0.0})
    with pytest.raises(NonFiniteError, match="lock value of joint 'b'"):
        build_model(THREE, locked={'b': np.nan})


def test_floating_base_stays_active() -> None:
    model = build_model(
        THREE, floating_base=True, active_joints=['a'], locked={'b': 0.0, 'c': 0.0}
    )
    assert model.joint_names == ('root_joint', 'a')
    assert (model.nq, model.nv) == (8, 7)


def test_mimic_of_a_locked_joint_is_locked_with_it() -> None:
    gripper = arm(
        revolute('a', 'base', 'la'),
        revolute('b', 'la', 'lb', mimic=Mimic('a', -2.0, 0.3)),
        revolute('c', 'lb', 'lc'),
    )
    model = build_model(gripper, locked={'a': 0.5})
    plain = build_model(THREE_PLAIN, locked={'a': 0.5, 'b': -0.7})
    assert model.joint_names == ('c',)
    np.testing.assert_array_equal(
        generalized_gravity(model, [0.2]), generalized_gravity(plain, [0.2])
    )


THREE_PLAIN = arm(
    revolute('a', 'base', 'la'), revolute('b', 'la', 'lb'), revolute('c', 'lb', 'lc')
)


@pytest.mark.parametrize(
    ('joint', 'match'),
    [
        (revolute('b', 'la', 'lb', mimic=Mimic('b')), 'mimics itself: b -> b'),
        (revolute('b', 'la', 'lb', mimic=Mimic('x')), "mimics 'x', which does not exist"),
        (revolute('b', 'la', 'a_link', mimic=None), None),
        (
            revolute('b', 'la', 'lb', type=JointType.PLANAR, mimic=Mimic('a')),
            'cannot mimic another',
        ),
        (revolute('b', 'lb', 'la'), "link 'la' has two parents"),
        (revolute('a', 'la', 'lb'), "two joints have the name 'a'"),
        (revolute('b', 'lx', 'ly'), r'2 root links \(.*\), expected one'),
    ],
)
def test_what_is_no_tree_is_refused(joint: Joint, match: str | None) -> None:
    description = arm(revolute('a', 'base', 'la'), joint)
    if match is None:
        assert build_model(description).nv == 2
        return
    with pytest.raises(ModelError, match=match):
        build_model(description)


def test_loop_without_root_is_refused() -> None:
    with pytest.raises(ModelError, match='no root link'):
        build_model(arm(revolute('a', 'x', 'y'), revolute('b', 'y', 'x')))


@pytest.mark.parametrize('normal', [Z, -Z, Y, np.array([0.6, 0.0, 0.8])])
def test_planar_joint_moves_in_its_plane(normal: np.ndarray) -> None:
    table = arm(Joint('p', JointType.PLANAR, 'base', 'lp', axis=normal))
    model = build_model(table)
    assert model.q_names == ('p/x', 'p/y', 'p/theta')
    start = frame_placement(model, [0.0, 0.0, 0.0], 'lp')
    moved = frame_placement(model, [0.3, -0.4, 0.7], 'lp')
    way = moved.translation - start.translation
    np.testing.assert_allclose([way @ normal, np.linalg.norm(way)], [0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(moved.rotation @ normal, normal, atol=1e-15)
    np.testing.assert_allclose(np.trace(moved.rotation), 1.0 + 2.0 * np.cos(0.7), atol=1e-15)
    # its velocity is the derivative of its coordinates, not one in the body's axes
    np.testing.assert_array_equal(integrate(model, [0, 0, 1.0], [1, 0, 0]), [1.0, 0.0, 1.0])


def test_payload_is_replaced_not_added_and_goes_without_trace() -> None:
    model = build_model(THREE)
    q = [0.3, 0.4, -1.0]
    loaded = model.with_payload(Payload(1.5, 'lc', np.array([0.0, 0.1, 0.0])))
    again = loaded.with_payload(Payload(0.5, 'lc')).with_payload(
        Payload(1.5, 'lc', np.array([0.0, 0.1, 0.0]))
    )
    assert loaded.total_mass == pytest.approx(7.5)
    np.testing.assert_array_equal(generalized_gravity(loaded, q), generalized_gravity(again, q))
    for none in (loaded.with_payload(None), loaded.with_payload(Payload(0.0, 'lc'))):
        np.testing.assert_array_equal(none.kernel, model.kernel)
    with pytest.raises(UnknownFrameError, match="frame 'hand' is not in the model"):
        model.with_payload(Payload(1.0, 'hand'))
    with pytest.raises(ModelError, match="payload frame 'base' does not move"):
        model.with_payload(Payload(1.0, 'base'))


@pytest.mark.parametrize(
    ('mass', 'inertia', 'match'),
    [
        (-1.0, np.zeros((3, 3)), 'mass is -1 kg'),
        (1.0, np.diag([1.0, 0.1, 0.1]), 'inertia is not possible'),
        (1.0, np.array([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]]), 'not symmetric'),
        (0.0, np.eye(3), 'without a mass'),
    ],
)
def test_impossible_payload_is_refused(mass: float, inertia: np.ndarray, match: str) -> None:
    with pytest.raises(ModelError, match=match):
        Payload(mass, 'lc', np.zeros(3), inertia)


def test_armature_adds_to_the_diagonal_and_is_judged() -> None:
    model = build_model(THREE)
    q = [0.1, 0.2, 0.3]
    heavier = model.with_armature({'b': 0.7})
    np.testing.assert_allclose(crba(heavier, q) - crba(model, q), np.diag([0, 0.7, 0]), atol=1e-15)
    np.testing.assert_array_equal(model.with_armature([0.0, 0.7, 0.0]).kernel, heavier.kernel)
    with pytest.raises(ModelError, match="armature of joint 'b' is -1"):
        model.with_armature({'b': -1.0})
    with pytest.raises(UnknownJointError, match="joint 'x'"):
        model.with_armature({'x': 1.0})
    with pytest.raises(ModelError, match='needs one degree of freedom'):
        build_model(THREE, floating_base=True, armature={'root_joint': 1.0})


def test_gravity_is_part_of_the_model_and_must_be_finite() -> None:
    model = build_model(THREE)
    q = [0.1, 0.2, 0.3]
    ceiling = model.with_gravity([0.0, 0.0, 9.81])
    np.testing.assert_array_equal(generalized_gravity(ceiling, q), -generalized_gravity(model, q))
    with pytest.raises(NonFiniteError, match='gravity'):
        model.with_gravity([0.0, np.nan, 0.0])


@pytest.mark.parametrize('value', ['a', '1.5', 1.0 + 2.0j, None, [[1.0], [2.0, 3.0]], {}])
def test_option_that_is_not_numbers_is_refused_by_name(value: Any) -> None:
    description = arm(revolute('j1', 'base', 'l1'), revolute('j2', 'l1', 'l2'))
    model = build_model(description)
    for option, name in (
        ({'locked': {'j1': value}}, "lock value of joint 'j1'"),
        ({'armature': {'j1': value}}, "armature of joint 'j1'"),
        ({'gravity': value}, 'gravity'),
        ({'gravity': (0.0, 0.0, value)}, 'gravity'),
    ):
        with pytest.raises(NotNumericError, match=f'^{name} '):
            build_model(description, **option)
    with pytest.raises(NotNumericError, match='^gravity '):
        model.with_gravity(value)
    with pytest.raises(NotNumericError, match='^armature '):
        model.with_armature([0.0, value])
    for field, name in (('mass', 'mass'), ('com', 'com'), ('inertia', 'inertia')):
        values = {'mass': 1.0, 'frame': 'l2', field: value}
        with pytest.raises(NotNumericError, match=f'^payload {name} '):
            Payload(**values)
    for field in ('com', 'inertia'):
        numbers: dict[str, Any] = {'com': np.zeros(3), 'inertia': np.eye(3), field: value}
        with pytest.raises(NotNumericError, match=f'^{field} '):
            Inertial(1.0, **numbers)


def test_options_by_joint_must_be_mappings() -> None:
    description = arm(revolute('j1', 'base', 'l1'))
    for option in ('locked', 'armature'):
        with pytest.raises(ModelError, match=rf'{option} is \[1.0\], expected a mapping of joint'):
            build_model(description, **{option: [1.0]})


def test_arrays_of_a_model_cannot_be_written() -> None:
    model = build_model(THREE)
    for array in (model.kernel, model.gravity, model.limits.effort, model.damping):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        model.name = 'other'  # type: ignore[misc]

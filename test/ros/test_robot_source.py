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

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from robot_dynamics_ros.core.dynamics import generalized_gravity  # noqa: E402
from robot_dynamics_ros.core.exceptions import ConfigurationError, ModelError  # noqa: E402
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402
from robot_dynamics_ros.resources import urdf_path  # noqa: E402
from robot_dynamics_ros.ros.node_parameters import TrajectoryAnnotatorParameters  # noqa: E402
from robot_dynamics_ros.ros.parameters import instance_of  # noqa: E402
from robot_dynamics_ros.ros.robot_source import (  # noqa: E402
    friction_of,
    load_robot,
    resolved_path,
)

ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])


def parameters(**values: object) -> TrajectoryAnnotatorParameters:
    named = {name.replace('__', '.'): value for name, value in values.items()}
    return instance_of(TrajectoryAnnotatorParameters, {'robot_description_file': ES5, **named})


def test_robot_is_loaded_from_file_and_from_text() -> None:
    expected = load_urdf(urdf_path('planar_2r_rods.urdf'))
    text = urdf_path('planar_2r_rods.urdf').read_text()
    given = load_robot(instance_of(TrajectoryAnnotatorParameters, {}), text)
    assert given.joint_names == expected.joint_names
    assert load_robot(parameters(), '').joint_names == tuple(f'joint_{i}' for i in range(1, 7))


def test_mounting_turns_gravity() -> None:
    # C01: on the ceiling every gravity torque is the negative one.
    floor = load_robot(parameters(), '')
    ceiling = load_robot(parameters(gravity=[0.0, 0.0, 9.81]), '')
    rolled = load_robot(parameters(base_roll=np.pi), '')
    for model in (ceiling, rolled):
        # Rounding of the turned vector: 1e-15 of 50 N m.
        np.testing.assert_allclose(
            generalized_gravity(model, Q), -generalized_gravity(floor, Q), atol=1e-12
        )


@pytest.mark.parametrize('gravity', [[0.0, 0.0, 0.0], [0.0, 0.0, -9.0], [0.0, 0.0, -981.0]])
def test_gravity_of_no_place_on_earth_is_refused(gravity: list[float]) -> None:
    with pytest.raises(ConfigurationError, match='gravity'):
        load_robot(parameters(gravity=gravity), '')


def test_joints_left_out_must_be_locked() -> None:
    joints = [f'joint_{i}' for i in range(1, 6)]
    with pytest.raises(ModelError, match='joint_6'):
        load_robot(parameters(joints=joints), '')
    model = load_robot(
        parameters(joints=joints, locked_joints=['joint_6'], locked_positions=[0.5]), ''
    )
    assert model.joint_names == tuple(joints)


def test_armature_follows_the_order_of_joints() -> None:
    joints = [f'joint_{i}' for i in (6, 5, 4, 3, 2, 1)]
    model = load_robot(parameters(joints=joints, armature=[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), '')
    np.testing.assert_array_equal(model.armature, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with pytest.raises(ConfigurationError, match='armature has 2 entries, expected 6'):
        load_robot(parameters(armature=[1.0, 2.0]), '')


def test_payload_is_carried() -> None:
    model = load_robot(
        parameters(payload__mass=2.0, payload__frame='tool0', payload__com=[0.0, 0.0, 0.1]), ''
    )
    assert model.payload is not None
    assert model.total_mass == pytest.approx(load_robot(parameters(), '').total_mass + 2.0)


def test_xacro_arguments_are_passed_on() -> None:
    model = load_robot(parameters(xacro_args=['inertia_set:=es5_cylinder']), '')
    assert model.moving_mass == pytest.approx(3.7 + 8.4 + 2.3 + 1.2 + 1.2 + 0.3)


def test_friction_comes_from_where_the_parameters_say() -> None:
    model = load_robot(parameters(), '')
    assert friction_of(parameters(), model) is None
    from_urdf = friction_of(parameters(friction_source='urdf'), model)
    from_file = friction_of(
        parameters(
            friction_source='file',
            friction_file='package://robot_dynamics_ros/config/es5_friction.yaml',
        ),
        model,
    )
    assert from_urdf is not None
    assert from_file is not None
    np.testing.assert_array_equal(from_urdf.viscous, model.damping)
    np.testing.assert_array_equal(from_file.viscous, [8.0, 8.0, 6.0, 1.5, 1.5, 1.0])


def test_friction_of_a_urdf_that_states_none_is_refused() -> None:
    wanted = parameters(
        robot_description_file='package://robot_dynamics_ros/urdf/planar_2r_rods.urdf',
        friction_source='urdf',
    )
    with pytest.raises(ConfigurationError, match='states neither damping nor friction.*file'):
        friction_of(wanted, load_robot(wanted, ''))


def test_paths_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    file = tmp_path / 'robot.urdf'
    file.write_text('<robot/>')
    assert resolved_path(str(file)) == file
    with pytest.raises(ConfigurationError, match='no file'):
        resolved_path(str(tmp_path / 'other.urdf'))
    with pytest.raises(ConfigurationError, match="package 'no_such_package'"):
        resolved_path('package://no_such_package/a.urdf')
    with pytest.raises(ConfigurationError, match='es5.urdf.xacro'):
        resolved_path('package://robot_dynamics_ros/urdf/other.urdf')


@pytest.mark.parametrize(
    ('description', 'said'),
    [
        ('/etc/passwd', "is no XML: it begins with '/etc/passwd'"),
        ('', 'is no XML'),
        (
            '<robot name="r" xmlns:xacro="x"><xacro:include filename="/etc/passwd"/></robot>',
            'xacro',
        ),
    ],
)
def test_description_from_the_topic_opens_no_files(description: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        load_robot(instance_of(TrajectoryAnnotatorParameters, {}), description)

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

import json
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from matplotlib.image import imread
import numpy as np
import pytest
from rosbags.typesys import get_typestore, Stores
import yaml

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.reading import BagReader
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.tools.cli import main

ROOT = Path(__file__).resolve().parents[2]
ES5 = str(urdf_path('es5.urdf.xacro'))
BIPED = str(urdf_path('five_link_biped_floating.urdf'))
PLANAR = str(urdf_path('planar_2r_point_mass.urdf'))
FLOOR = str(config_path('worlds/floor.yaml'))
STORE = get_typestore(Stores.ROS2_JAZZY)

STANDING = (
    BIPED, '--world', FLOOR, '--controller', 'hold', '--kp', 2000, '--kd', 30,
    '--passive', 'base_x', 'base_z', 'base_pitch',
    '--q', 'base_z=0.81', 'left_hip=0.2', 'right_hip=-0.2', '--duration', 0.5,
)  # fmt: skip

CRATE = """<robot name="crate"><link name="crate">
  <inertial><mass value="2"/>
    <inertia ixx="0.0133" iyy="0.0133" izz="0.0133" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
</link></robot>"""


def command(*arguments: Any) -> int:
    return main(['simulate', *map(str, arguments)])


def report_of(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    assert command(*arguments, '--json') == 0
    report = json.loads(capsys.readouterr().out)
    assert isinstance(report, dict)
    return report


def messages(bag: Path, msgtype: str, name: str) -> list[Any]:
    with BagReader(bag) as reader:
        topic = reader.topic(msgtype, name)
        return [STORE.deserialize_cdr(raw.data, msgtype) for raw in reader.messages(topic)]


def refuse_constants(text: str) -> None:
    raise AssertionError(f'{text} in JSON')


def test_biped_stands_and_leaves_everything_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / 'run'
    assert command(*STANDING, '--output', folder) == 0
    printed = capsys.readouterr().out
    for text in ('work of the contacts', 'left_shank   floor', 'first touch', 'as fast as real'):
        assert text in printed
    assert 'Tracking' not in printed
    assert {entry.name for entry in folder.iterdir()} == {
        'report.html', 'report.json', 'simulation',
        'motion.png', 'torques.png', 'energy.png', 'contacts.png',
    }  # fmt: skip
    report = json.loads((folder / 'report.json').read_text(), parse_constant=refuse_constants)
    left, right = report['contacts']
    weight = 9.81 * 29.0
    # The impact is an impulse, and so in no force; what the legs swing after it dies away.
    both = left['mean_normal_force'] + right['mean_normal_force']
    assert both == pytest.approx(weight, rel=5e-3)
    assert left['first_touch'] == right['first_touch'] == pytest.approx(0.072, abs=2e-3)
    assert report['impacts'] == 1
    assert report['largest_residual'] < 1e-8
    energy = report['energy']
    assert energy['contacts'] < -5.0
    assert abs(energy['rest']) < 1e-5
    page = (folder / 'report.html').read_text()
    assert not re.search(r'(src|href)="(?!data:)', page), 'nothing to load from elsewhere'
    assert page.count('<img') == 4
    assert '"ground":0.0' in page
    assert '"contacts":[[],' in page
    for name in ('motion', 'torques', 'energy', 'contacts'):
        assert np.ptp(imread(folder / f'{name}.png')[..., :3]) > 0.5
    wrenches = messages(
        folder / 'simulation', 'geometry_msgs/msg/WrenchStamped', '/contacts/left_shank'
    )
    assert len(wrenches) == 501
    last = wrenches[-1].wrench.force
    force = np.hypot(last.x, last.z)
    assert wrenches[-1].header.frame_id == 'left_shank'
    assert weight / 2 < force < 0.55 * weight  # the feet push outwards as well
    motion = messages(
        folder / 'simulation', 'trajectory_msgs/msg/JointTrajectory', '/truth/motion'
    )
    point = motion[-1].points[0]
    assert motion[-1].joint_names == report['v_names']
    assert point.positions.tolist() == report['q_end']
    assert not point.effort[:3].any(), 'passive'
    assert point.effort[3:].any()


def test_output_is_not_overwritten_by_accident(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = (PLANAR, '--duration', 0.01, '--output', tmp_path)
    (tmp_path / 'precious').write_text('mine')
    assert command(*short) == 1
    assert 'exists' in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ['precious']
    assert command(*short, '--overwrite') == 0
    assert command(*short, '--overwrite') == 0
    assert (tmp_path / 'precious').read_text() == 'mine'
    assert (tmp_path / 'report.json').is_file()


def test_failure_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ('--controller', 'hold', '--kp', 1e9, '--kd', 1e9, '--v', 1, 1)
    assert command(PLANAR, *arguments, '--output', tmp_path / 'run') == 1
    error = capsys.readouterr().err
    assert 'becomes unstable' in error
    assert error.count('\n') == 1
    assert not list(tmp_path.iterdir())


def test_es5_follows_its_scenario_as_a_real_robot_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / 'run'
    arguments = (
        ES5, '--controller', 'pd_feedforward', '--scenario', 'pick_place', '--duration', 1,
        '--friction', config_path('es5_friction.yaml'), '--drives', config_path('es5_drives.yaml'),
        '--sensors', config_path('es5_sensors.yaml'), '--rate', 500,
    )  # fmt: skip
    report = report_of(capsys, *arguments, '--seed', 1, '--output', folder)
    assert [row['joint'] for row in report['tracking']] == [f'joint_{i}' for i in range(1, 7)]
    assert 1e-3 < report['tracking'][1]['largest'] < 0.03  # friction, which the law does not know
    assert report['energy']['friction'] < -10.0
    # The friction is solved with second order.
    assert abs(report['energy']['rest']) < 1e-4 * report['energy']['actuators']
    assert 490 < report['samples_received'] < 501  # 0.5 % get lost
    log = read_joint_log(folder / 'simulation', '/joint_states')
    assert len(log.stamps) == report['samples_received']
    truth = messages(folder / 'simulation', 'trajectory_msgs/msg/JointTrajectory', '/truth/motion')
    assert len(truth) == 501
    speed = np.array([message.points[0].velocities for message in truth])
    at = np.round((log.stamps - log.stamps[0]) * 500).astype(int)
    noise = log.velocity - speed[at]
    assert noise.std() == pytest.approx(2e-3, rel=0.1)  # rms of es5_sensors.yaml, 3000 samples
    friction = messages(folder / 'simulation', 'sensor_msgs/msg/JointState', '/truth/friction')
    assert friction[250].effort[1] > 7.0  # the Coulomb level of joint 2
    wanted = messages(folder / 'simulation', 'sensor_msgs/msg/JointState', '/reference')
    assert wanted[-1].position[1] == pytest.approx(np.pi / 3)
    again = report_of(capsys, *arguments, '--seed', 1)
    assert again['q_end'] == report['q_end']
    assert report_of(capsys, *arguments, '--seed', 2)['q_end'] != report['q_end']


def test_floating_crate_rests_on_its_weight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'crate.urdf'
    path.write_text(CRATE)
    floating = (path, '--floating-base', '--world', FLOOR, '--duration', 0.5)
    report = report_of(capsys, *floating, '--base-pose', 0, 0, 0.15, '--output', tmp_path / 'run')
    (contact,) = report['contacts']
    # All the force that carries it, from the first period after the impact on.
    assert contact['peak_normal_force'] == pytest.approx(2.0 * 9.81, rel=1e-6)
    assert report['q_end'][2] == pytest.approx(0.1, abs=1e-6)
    # It falls by 5 cm and stays there.
    assert report['energy']['contacts'] == pytest.approx(-2.0 * 9.81 * 0.05, rel=1e-6)
    bases = messages(tmp_path / 'run' / 'simulation', 'nav_msgs/msg/Odometry', '/truth/base')
    assert bases[-1].pose.pose.position.z == report['q_end'][2]
    assert bases[-1].child_frame_id == 'crate'
    with BagReader(tmp_path / 'run' / 'simulation') as reader:
        assert '/joint_states' not in {topic.name for topic in reader.topics}  # it has no joints
    # A push of 4 N s along +x, against friction of 0.7 times the weight.
    pushed = report_of(
        capsys, *floating, '--base-pose', 0, 0, 0.1, '--push', 'crate', 40, 0, 0, 0.1, 0.2
    )
    assert pushed['energy']['pushes'] > 0.5
    assert pushed['energy']['contacts'] == pytest.approx(-pushed['energy']['pushes'], rel=1e-3)
    assert pushed['q_end'][0] > 0.05
    # The compliant floor gives way by m g / (4 k).
    soft = report_of(capsys, *floating, '--base-pose', 0, 0, 0.1, '--contact-model', 'compliant')
    assert 0.1 - soft['q_end'][2] == pytest.approx(2.0 * 9.81 / 4e6, rel=0.05)
    alone = report_of(capsys, *floating, '--base-pose', 0, 0, 0.1, '--collisions', 'none')
    assert alone['contacts'] == []
    assert alone['q_end'][2] == pytest.approx(0.1 - 0.5 * 9.81 * 0.25, rel=1e-9)


def test_start_is_taken_by_name_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    still = ('--duration', 0.001, '--rate', 1000, '--gravity', 0, 0, 0)
    in_order = report_of(capsys, PLANAR, *still, '--q', 0.1, -0.2, '--v', 0, 0)
    assert in_order['q_start'] == in_order['q_end'] == [0.1, -0.2]
    second = in_order['q_names'][1]
    by_name = report_of(capsys, PLANAR, *still, '--q', f'{second}=0.5', '--v', f'{second}=2')
    assert by_name['q_start'] == [0.0, 0.5]
    assert by_name['q_end'][1] == pytest.approx(0.502, rel=1e-4)


def test_laws_that_hold_hold(capsys: pytest.CaptureFixture[str]) -> None:
    bent = (ES5, '--q', 0, 0.6, 0.6, 0, 1, 0, '--duration', 0.3)
    for controller in ('gravity', 'hold'):
        report = report_of(capsys, *bent, '--controller', controller)
        # The torque balances the weight exactly; rounding grows slowly.
        np.testing.assert_allclose(report['q_end'], report['q_start'], atol=1e-9)
    fallen = report_of(capsys, *bent, '--no-joint-limits')
    assert abs(fallen['q_end'][1] - 0.6) > 0.1
    loaded = report_of(capsys, *bent, '--controller', 'hold', '--payload', 3)
    assert loaded['peak_torque'][1] > report['peak_torque'][1] + 10.0


def test_trajectory_of_a_file_is_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'trajectory.yaml'
    names = ['joint_1', 'joint_2'][::-1]
    points = [
        {'positions': [0.0, 0.5], 'velocities': [0.0, 0.0], 'time_from_start': {'sec': 0}},
        {'positions': [0.4, 1.0], 'velocities': [0.0, 0.0], 'time_from_start': {'sec': 1}},
    ]
    path.write_text(yaml.safe_dump({'joint_names': names, 'points': points}))
    errors = {}
    for controller in ('pd', 'computed_torque'):
        report = report_of(capsys, PLANAR, '--controller', controller, '--trajectory', path)
        assert report['q_start'] == [0.5, 0.0]
        assert report['samples'] == 1001
        errors[controller] = max(row['largest'] for row in report['tracking'])
    assert errors['computed_torque'] < 1e-3 < errors['pd']


@pytest.mark.parametrize('name', ['floor', 'slope', 'wall', 'table'])
def test_shipped_worlds_can_be_read(name: str) -> None:
    world = World.from_file(config_path(f'worlds/{name}.yaml'))
    assert world.planes


@pytest.mark.parametrize('law', ['dry', 'lugre'])
def test_friction_law_can_be_chosen(law: str, capsys: pytest.CaptureFixture[str]) -> None:
    friction = config_path('es5_friction.yaml')
    report = report_of(
        capsys, ES5, '--controller', 'none', '--friction', friction, '--friction-model', law,
        '--drives', config_path('es5_drives.yaml'), '--duration', 0.1,
    )  # fmt: skip
    balance = report['energy']
    assert abs(balance['rest']) < 0.02 * abs(balance['friction'])


def test_bristles_elastic_joints_and_a_wall_go_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    friction = config_path('es5_friction.yaml')
    report = report_of(
        capsys, ES5, '--controller', 'hold', '--q', *'0 1.2 -1.2 0 0 0'.split(),
        '--world', config_path('worlds/wall.yaml'), '--push', 'link_6', 200, 0, 0, 0.1, 0.8,
        '--friction', friction, '--friction-model', 'lugre', '--self-collision',
        '--drives', config_path('es5_drives.yaml'), '--joint-stiffness', 'joint_2=8e4',
        'joint_3=5e4', '--joint-damping', 'joint_2=100', 'joint_3=60', '--duration', 0.9,
    )  # fmt: skip
    assert report['contacts'] and report['contacts'][0]['surface'] == 'wall'
    balance = report['energy']
    assert balance['friction'] < 0.0
    assert abs(balance['rest']) < 0.02 * (abs(balance['friction']) + abs(balance['pushes']))


def test_elastic_joint_is_in_the_balance(capsys: pytest.CaptureFixture[str]) -> None:
    """Undamped springs and their rotors swing; nothing is lost."""
    report = report_of(
        capsys, PLANAR, '--controller', 'none', '--armature', 'joint_1=0.2', '--armature',
        'joint_2=0.1', '--joint-stiffness', '3000', '1000', '--q', '0.3', '0.4', '--duration', 1,
    )  # fmt: skip
    balance = report['energy']
    assert abs(balance['rest']) < 1e-3
    assert abs(balance['friction']) < 1e-12


def test_crate_sticks_to_the_slope(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'crate.urdf'
    path.write_text(CRATE)
    half = np.radians(7.5)
    pose = (0, 0, 0.1 / np.cos(2 * half) + 1e-9, 0, np.sin(half), 0, np.cos(half))
    report = report_of(
        capsys, path, '--floating-base', '--world', config_path('worlds/slope.yaml'),
        '--base-pose', *pose, '--duration', 0.5,
    )  # fmt: skip
    np.testing.assert_allclose(report['q_end'][:3], report['q_start'][:3], atol=1e-7)
    (contact,) = report['contacts']
    assert contact['mean_normal_force'] == pytest.approx(19.62 * np.cos(2 * half), rel=1e-2)


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('nowhere.urdf',), 'nowhere.urdf'),
        ((PLANAR, '--world', 'nowhere.yaml'), 'world file nowhere.yaml cannot be read'),
        ((PLANAR, '--friction', 'nowhere.yaml'), 'nowhere.yaml'),
        ((PLANAR, '--drives', 'nowhere.yaml'), 'nowhere.yaml'),
        ((PLANAR, '--sensors', 'nowhere.yaml'), 'nowhere.yaml'),
        ((PLANAR, '--controller', 'pd'), 'give --scenario or --trajectory'),
        ((PLANAR, '--trajectory', 'nowhere.yaml'), 'controller none follows no motion'),
        ((PLANAR, '--controller', 'pd', '--trajectory', 'no.yaml'), 'no.yaml cannot be read'),
        ((PLANAR, '--controller', 'pd', '--scenario', 'pick_place'), 'for arms of 6 joints'),
        ((PLANAR, '--q', '1'), '--q has 1 numbers, expected 2'),
        ((PLANAR, '--q', 'knee=1'), "no coordinate 'knee'; there are:"),
        ((PLANAR, '--q', '1', 'joint_1=1'), "'1' is not NAME=VALUE"),
        ((PLANAR, '--v', '1', 'fast'), "'fast' is not a finite number"),
        ((PLANAR, '--base-pose', '0', '0', '1'), '--base-pose needs --floating-base'),
        ((ES5, '--floating-base', '--base-pose', '0', '0'), 'expected X Y Z or'),
        ((ES5, '--floating-base', '--base-pose', *'0001111'), 'has length 2, expected 1'),
        ((ES5, '--floating-base', '--controller', 'gravity'), 'there are: none, hold, pd'),
        ((PLANAR, '--controller', 'hold', '--kp', '1', '2', '3'), 'expected one number or 2'),
        ((PLANAR, '--passive', 'knee'), "no driven joint 'knee'"),
        ((PLANAR, '--push', 'hand', *'11101'), "'hand' is not in the model"),
        ((PLANAR, '--push', 'hand', *'11x01'), "'x' is not a finite number"),
        ((PLANAR, '--duration', '1e6'), 'simulate for a shorter time'),
        ((ES5, '--world', FLOOR), "link 'link_1' starts 0.111 m inside 'floor'"),
        ((PLANAR, '--world', FLOOR), 'has no collision shapes'),
        ((PLANAR, '--payload', '1', '--payload-frame', 'hand'), "'hand' is not in the model"),
        (
            (ES5, '--friction', config_path('es5_friction.yaml'), '--friction-model', 'dahl'),
            "Dahl's model has no static level",
        ),
        ((PLANAR, '--joint-stiffness', '1', '2', '3'), '--joint-stiffness has 3 numbers'),
        ((PLANAR, '--joint-stiffness', '1e3', '1e3'), 'an elastic joint needs a motor_inertia'),
        ((PLANAR, '--joint-stiffness', 'knee=1'), "no coordinate 'knee'"),
        ((PLANAR, '--joint-damping', '1', '1'), '--joint-damping is for elastic joints'),
        (
            (ES5, '--armature', 'joint_1=1', '--drives', config_path('es5_drives.yaml')),
            '--armature and --drives both state',
        ),
        ((ES5, '--friction-model', 'lugre'), '--friction-model lugre needs --friction FILE'),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[Any, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1


def test_help_does_not_wait_for_compiled_kernels() -> None:
    code = (
        'import sys\n'
        'from robot_dynamics_ros.tools.cli import main\n'
        "try: main(['simulate', '--help'])\n"
        'except SystemExit: pass\n'
        "sys.exit('numba' in sys.modules or 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0

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

from collections.abc import Sequence
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio
import pytest

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robot_dynamics_ros.report.torque_comparison import TorqueComparison
from robot_dynamics_ros.report.torque_replay import replay_torques, TorqueReplay
from robot_dynamics_ros.tools.cli import main
from robot_dynamics_ros.tools.joint_matching import match_joints
from shared_data import shared_path

Array = NDArray[np.float64]
ROBOTS = Path(pinocchio.__file__).parents[4] / 'share/example-robot-data/robots'
START = 1_700_000_000_000_000_000

ARM = """<robot name="arm">
  <link name="base"/>
  {links}
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="finger_joint" type="prismatic"><parent link="l2"/><child link="finger"/>
    <origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="1"/></joint>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="l1"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="5"/>
    <dynamics damping="0.7" friction="0.4"/></joint>
  <joint name="elbow" type="revolute"><parent link="l1"/><child link="l2"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="50" velocity="5"/></joint>
</robot>""".format(
    links='\n  '.join(
        f"""<link name="{name}"><inertial><origin xyz="0.2 0.05 0.1"/><mass value="{mass}"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0.001" iyz="0"/></inertial></link>"""
        for name, mass in (('l1', 3.0), ('l2', 2.0))
    )
)
JOINTS = ('shoulder', 'elbow')


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return path


def swing(urdf: Path, finger: float = 0.02) -> tuple[Array, ...]:
    """Return times, positions, velocities and the exact torques of a swinging arm."""
    model = load_urdf(urdf, locked={'finger_joint': finger})
    t = np.arange(0.0, 8.0, 0.01)
    w = 2.0 * np.pi * np.array([0.5, 0.8])
    q, v = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w))
    return t, q, v, rnea_batch(model, q, v, -(w**2) * q)


def record(
    path: Path,
    log: tuple[Array, ...],
    names: Sequence[str] = JOINTS,
    *,
    effort: bool = True,
    velocity: bool = True,
) -> Path:
    with BagWriter(path) as bag:
        for t, q, v, tau in zip(*log):
            stamp = START + round(float(t) * 1e9)
            bag.write_joint_state(
                '/joint_states', stamp, names, q, v if velocity else (), tau if effort else ()
            )
    return path


def run(*arguments: object) -> int:
    return main(['replay', *map(str, arguments)])


def report(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / 'report.json').read_text())
    assert isinstance(content, dict)
    return content


def test_exact_log_of_the_same_model_agrees(
    tmp_path: Path, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = swing(urdf)
    bag = record(tmp_path / 'log', log)
    out = tmp_path / 'out'
    code = run(bag, '--urdf', urdf, '--output', out, '--lock', 'finger*:=0.02')
    printed = capsys.readouterr().out
    assert code == 0
    assert 'finger_joint is held at 0.02 (--lock)' in printed
    assert 'zero-phase Butterworth, 5 Hz, order 4' in printed
    assert sorted(entry.name for entry in out.iterdir()) == [
        'errors.png',
        'replay',
        'report.json',
        'terms.png',
        'torques.png',
    ]
    found = report(out)
    assert found['locked'] == {'finger_joint': 0.02}
    assert found['velocity']['source'] == 'measured'
    # The log begins and ends in full motion, which the filter cannot know: 0.5 s at each end.
    assert found['against_filtered_effort']['global_relative'] < 0.01
    replayed = read_joint_log(out / 'replay', '/model/torques')
    assert replayed.joint_names == JOINTS
    middle = slice(100, -100)
    assert replayed.effort is not None
    scale = np.abs(log[3]).max()
    # (0.8 / 5)^8 = 4e-7 from the filter on q, and tau holds harmonics up to 3 x 0.8 Hz.
    assert np.abs(replayed.effort - log[3])[middle].max() < 2e-3 * scale


def test_bag_holds_measured_and_model_torques_and_terms_that_add_up(
    tmp_path: Path, urdf: Path
) -> None:
    log = swing(urdf)
    bag = record(tmp_path / 'log', log)
    out = tmp_path / 'out'
    assert run(bag, '--urdf', urdf, '--output', out, '--lock', 'finger_joint:=0.02') == 0
    logs = {
        name: read_joint_log(out / 'replay', f'/model/torques{name}')
        for name in ('', '/inertia', '/coriolis', '/gravity', '/friction')
    }
    measured = read_joint_log(out / 'replay', '/joint_states')
    original = read_joint_log(bag)
    assert np.array_equal(measured.position, original.position)
    assert measured.effort is not None and original.effort is not None
    assert np.array_equal(measured.effort, original.effort)
    total = sum(entry.effort for name, entry in logs.items() if name and entry.effort is not None)
    assert logs[''].effort is not None
    assert np.allclose(total, logs[''].effort, rtol=0.0, atol=1e-12)  # sums in another order
    for entry in logs.values():
        assert entry.start == measured.start
        assert np.array_equal(entry.stamps, measured.stamps)
    # The bag can be replayed itself: against the model torque nothing but the filter differs.
    again = [out / 'replay', '--topic', '/model/torques', '--lock', 'finger_joint:=0.02']
    assert run(*again, '--urdf', urdf, '--output', tmp_path / 'again') == 0
    found = report(tmp_path / 'again')['against_raw_effort']['global_relative']
    assert found < 0.01
    assert read_joint_log(tmp_path / 'again' / 'replay', '/measured/joint_states').counts


def test_log_without_effort_or_velocity_still_gives_model_torques(
    tmp_path: Path, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = swing(urdf)
    bag = record(tmp_path / 'log', log, effort=False, velocity=False)
    out = tmp_path / 'out'
    assert run(bag, '--urdf', urdf, '--output', out, '--lock', 'finger_joint:=0.02') == 0
    assert 'nothing to compare with' in capsys.readouterr().out
    found = report(out)
    assert found['against_filtered_effort'] is None
    assert found['velocity']['source'] == 'differentiated position'
    replayed = read_joint_log(out / 'replay', '/model/torques')
    assert replayed.effort is not None
    assert np.abs(replayed.effort - log[3])[100:-100].max() < 2e-3 * np.abs(log[3]).max()


def test_joints_are_mapped_by_prefix_and_by_name(tmp_path: Path, urdf: Path) -> None:
    bag = record(tmp_path / 'log', swing(urdf), ('robot_shoulder', 'robot_ell'))
    maps = ['--map', 'robot_:=', 'robot_ell:=elbow']
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'no', *maps) == 1  # empty names
    maps = [
        '--map',
        'robot_shoulder:=shoulder',
        'robot_ell:=elbow',
        '--lock',
        'finger_joint:=0.02',
    ]
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out', *maps) == 0
    assert report(tmp_path / 'out')['joint_map']['robot_ell'] == 'elbow'


def test_differing_names_are_refused_with_both_sets_and_a_way_out(
    tmp_path: Path, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path / 'log', swing(urdf), ('fer_shoulder', 'fer_elbow'))
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out') == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert 'log: fer_shoulder, fer_elbow' in line
    assert 'finger_joint' in line and 'shoulder' in line
    assert line.endswith('try --map fer_:= --lock finger_joint:=POSITION')
    assert not (tmp_path / 'out').exists()


def test_joint_that_the_log_lacks_must_be_held_by_the_user(
    tmp_path: Path, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path / 'log', swing(urdf))
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out') == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith('try --lock finger_joint:=POSITION')


def test_results_are_only_overwritten_when_told(
    tmp_path: Path, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path / 'log', swing(urdf))
    out = tmp_path / 'out'
    arguments = [bag, '--urdf', urdf, '--output', out, '--lock', 'finger_joint:=0.02']
    assert run(*arguments) == 0
    (out / 'mine.txt').write_text('keep')
    before = (out / 'report.json').read_bytes()
    assert run(*arguments, '--cutoff', 8) == 1
    assert 'out exists' in capsys.readouterr().err
    assert (out / 'report.json').read_bytes() == before
    assert run(*arguments, '--cutoff', 8, '--overwrite') == 0
    assert report(out)['filter']['cutoff'] == 8.0
    assert (out / 'mine.txt').read_text() == 'keep'
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith('.')]


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        (['--topic', '/other'], 'no topic /other of type'),
        (['--lock', 'finger_joint'], 'not of the form joint:=number'),
        (['--lock', 'finger_joint:=nan'], 'not of the form joint:=number'),
        (['--lock', 'thumb:=1'], 'fits no joint of the model'),
        (['--lock', '*:=0'], 'all joints of the model are held'),
        (['--map', 'q:=elbow'], 'fits no joint of the log'),
        (['--lock', 'finger_joint:=0', '--cutoff', '50'], 'half the sampling rate'),
        (['--payload', '1', '0', '0', '0'], '--payload needs --payload-frame'),
        (['--payload', '1', '0', '0', '0', '--payload-frame', 'hand'], "frame 'hand' is not in"),
        (['--lock', 'finger_joint:=0', '--friction', 'nowhere.yaml'], 'nowhere.yaml'),
        (['--gravity', '0', '0', '0'], 'has norm 0 m/s^2, expected 9.81'),
        (['--lock', '[fs]*:=0', '--friction', 'urdf'], 'states neither damping nor friction'),
        (['--lock', 'finger_joint:=0', '--since', '1e9'], 'log, which runs from 0 to 7.99 s'),
    ],
)
def test_wrong_arguments_are_one_line_and_leave_nothing(
    tmp_path: Path,
    urdf: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    bag = record(tmp_path / 'log', swing(urdf))
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out', *arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(('samples', 'since'), [(800, 7.95), (15, 0)])
def test_samples_that_cannot_be_compared_are_refused(
    tmp_path: Path,
    urdf: Path,
    capsys: pytest.CaptureFixture[str],
    samples: int,
    since: float,
) -> None:
    """Without velocities the 0.1 s at each end of a log have no acceleration to trust."""
    log = tuple(values[:samples] for values in swing(urdf))
    bag = record(tmp_path / 'log', log, velocity=False)
    arguments = ['--lock', 'finger_joint:=0', '--since', since]
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out', *arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    end = (samples - 1) * 0.01
    assert f'from {since} s on: the log runs from 0 to {end:g} s' in line
    assert not (tmp_path / 'out').exists()


def test_comparison_begins_where_it_is_asked_to(tmp_path: Path, urdf: Path) -> None:
    bag = record(tmp_path / 'log', swing(urdf))
    arguments = ['--lock', 'finger_joint:=0.02', '--since', 5.995]
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out', *arguments) == 0
    found = report(tmp_path / 'out')
    assert found['since'] == 5.995
    # From 6 s to 7.99 s at 100 Hz.
    assert [joint['samples'] for joint in found['against_filtered_effort']['joints']] == [200, 200]


def test_payload_and_gravity_change_the_model(tmp_path: Path, urdf: Path) -> None:
    bag = record(tmp_path / 'log', swing(urdf))
    out = tmp_path / 'out'
    arguments = ['--payload', 2, 0.1, 0, 0, '--payload-frame', 'l2', '--gravity', 0, 0, 9.81]
    assert (
        run(bag, '--urdf', urdf, '--output', out, '--lock', 'finger_joint:=0.02', *arguments) == 0
    )
    found = report(out)
    assert found['payload'] == {'mass': 2.0, 'frame': 'l2', 'com': [0.1, 0.0, 0.0]}
    assert found['gravity'] == [0.0, 0.0, 9.81]
    # The effort is that of an arm on the floor: most of it has the other sign now.
    assert any('joint map and gravity right?' in note for note in found['notes'])


def test_torques_equal_those_of_pinocchio_on_the_same_motion(tmp_path: Path, urdf: Path) -> None:
    log = swing(urdf)
    matched = match_joints(load_urdf(urdf), JOINTS, lock_rules=['finger_joint:=0.02'])
    replay = replay_torques(
        matched.model, log[0], log[1], log[2], log[3], low_pass=ZeroPhaseFilter(5.0)
    )
    full = pinocchio.buildModelFromUrdf(str(urdf))
    at = pinocchio.neutral(full)
    at[full.joints[full.getJointId('finger_joint')].idx_q] = 0.02
    other = pinocchio.buildReducedModel(full, [full.getJointId('finger_joint')], at)
    data = other.createData()
    order = [list(other.names)[1:].index(name) for name in JOINTS]
    assert order == [0, 1]
    motion = replay.motion
    expected = np.array(
        [pinocchio.rnea(other, data, *row) for row in zip(motion.q, motion.v, motion.a)]
    )
    # Two implementations of the same sums.
    assert np.abs(replay.torque - expected).max() < 1e-10 * np.abs(expected).max()
    gravity = np.array([pinocchio.computeGeneralizedGravity(other, data, q) for q in motion.q])
    assert np.abs(replay.gravity - gravity).max() < 1e-10 * np.abs(expected).max()


def test_model_without_single_joints_is_refused(urdf: Path) -> None:
    from robot_dynamics_ros.core.exceptions import ModelError

    model = load_urdf(urdf, floating_base=True, locked={'finger_joint': 0.0})
    t, q, v, tau = swing(urdf)
    with pytest.raises(ModelError, match='several coordinates'):
        replay_torques(model, t, q, v, tau, low_pass=ZeroPhaseFilter(5.0))


def test_match_tells_what_it_ignores(urdf: Path) -> None:
    model = load_urdf(urdf)
    matched = match_joints(model, ('wheel', *JOINTS, 'finger_joint'), lock_rules=['finger*:=0.01'])
    assert matched.model.joint_names == JOINTS
    assert 'finger_joint moves in the log but is held in the model' in matched.notes
    assert 'wheel of the log is not in the model and not used' in matched.notes
    with pytest.raises(ConfigurationError, match='no joint of the log is in the model'):
        match_joints(model, ('x', 'y'))


# Public logs and cases that stand beside a development checkout.


def replay_case(bag: Path, urdf: Path, friction: bool = False) -> TorqueReplay:
    log = read_joint_log(bag)
    model = match_joints(load_urdf(urdf), log.joint_names).model
    log = log.select(model.joint_names)
    return replay_torques(
        model,
        log.stamps,
        log.position,
        log.velocity,
        log.effort,
        low_pass=ZeroPhaseFilter(5.0),
        friction=FrictionModel.from_model(model) if friction else None,
    )


def global_error(comparison: TorqueComparison | None) -> float:
    assert comparison is not None and comparison.global_relative is not None
    return comparison.global_relative


def test_panda_log_on_the_plain_urdf_differs_by_the_known_amount(tmp_path: Path) -> None:
    bag = shared_path('data', 'panda_unisa_rosbag2', 'panda_exciting_trajectory.db3')
    urdf = ROBOTS / 'panda_description/urdf/panda.urdf'
    out = tmp_path / 'out'
    names = ['--map', 'fer_joint:=panda_joint', '--lock', 'panda_finger_joint1:=0']
    assert run(bag, '--urdf', urdf, '--output', out, *names) == 0
    found = report(out)
    assert found['samples'] == 727
    assert found['filter']['cutoff'] == 5.0
    # 12.7 % is known from an independent evaluation; its last digit depends on the filter.
    error = found['against_filtered_effort']['global_relative']
    assert error == pytest.approx(0.127, abs=0.002)


def test_ur10_log_on_the_plain_urdf_differs_by_the_known_amount() -> None:
    bag = shared_path('data', 'ur10_unisa_rosbag2', 'ur10_exciting_trajectory.db3')
    replay = replay_case(bag, ROBOTS / 'ur_description/urdf/ur10_robot.urdf')
    assert len(replay.torque) == 3441
    # Known from an independent evaluation: 45.6 %, and 47.6 % from 18 s on.
    assert global_error(replay.comparison()) == pytest.approx(0.456, abs=0.002)
    assert global_error(replay.comparison(since=18.0)) == pytest.approx(0.476, abs=0.002)


@pytest.mark.parametrize('name', ['good_mcap', 'nan_effort_missing_velocity'])
def test_pendulum_bag_agrees_with_the_truth_and_its_friction(name: str) -> None:
    bag = shared_path('cases', 'bags', name)
    urdf = shared_path('cases', 'urdf', 'A36_damping_friction.urdf')
    plain, rubbing = (replay_case(bag, urdf, friction=friction) for friction in (False, True))
    # The truth is J a + m g c cos q + 0.7 v + 0.4 sign v: viscous and Coulomb friction missing in
    # the one, only the corners of sign(v) smoothed in the other.
    assert global_error(plain.comparison()) > 0.2
    assert global_error(rubbing.comparison()) < 0.02
    comparison = rubbing.comparison_with_raw()
    assert comparison is not None
    # 115 efforts are missing; 0.1 s at each end are left out where velocities are, too.
    assert comparison.joints[0].samples == (800 if name == 'good_mcap' else 668)


def test_truncated_bag_is_used_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = shared_path('cases', 'bags', 'good_mcap_truncated')
    urdf = shared_path('cases', 'urdf', 'A36_damping_friction.urdf')
    out = tmp_path / 'out'
    assert run(bag, '--urdf', urdf, '--output', out) == 0
    assert report(out)['samples'] == 558
    assert '558 of 800 messages of /joint_states were read' in capsys.readouterr().out


@pytest.mark.parametrize('name', ['not_a_bag', 'nothing'])
def test_no_bag_is_one_line_and_exit_code_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    urdf = shared_path('cases', 'urdf', 'A36_damping_friction.urdf')
    bag = shared_path('cases', 'bags') / name
    assert run(bag, '--urdf', urdf, '--output', tmp_path / 'out') == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert str(bag) in line

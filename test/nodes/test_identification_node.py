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

"""identification_node in a graph: what it learns, keeps, writes, withdraws and refuses."""

from __future__ import annotations

import json
from pathlib import Path
import time
from typing import Any

from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from identification_scenes import dry_friction, simulated_log, SimulatedLog, two_link_urdf
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.offline_result import read_offline_result
from robot_dynamics_ros.core.identification.online.excitation_gate import RowState
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.identification_node import IdentificationNode
from robot_dynamics_ros.ros import payload_output
from robot_dynamics_ros.ros.external_contact import HELD
from robot_dynamics_ros.ros.qos import LATCHED
from robot_dynamics_ros.tools.cli import main
from ros_graph import Graph, joint_state, Statuses

JOINTS = ['shoulder', 'elbow']
NODE = '/identification_node'
VISCOUS, COULOMB = np.array([1.5, 0.8]), np.array([2.0, 1.0])


@pytest.fixture(scope='module')
def log() -> SimulatedLog:
    """Return a log of the arm with a first link that is heavier than the description says."""
    robot = load_urdf(two_link_urdf(3.5))
    friction = dry_friction(robot, VISCOUS, COULOMB)
    exact = simulated_log(robot, friction, 30.0, rate=200.0, size=1.2)
    return exact.with_noise(np.random.default_rng(0), 1e-5, 1e-3, np.array([0.3, 0.1]))


@pytest.fixture(scope='module')
def report(log: SimulatedLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of an identification of the same arm with another friction."""
    folder = tmp_path_factory.mktemp('offline')
    (folder / 'arm.urdf').write_text(two_link_urdf())
    robot = load_urdf(two_link_urdf(3.5))
    friction = dry_friction(robot, VISCOUS, 0.7 * COULOMB)
    before = simulated_log(robot, friction, 16.0, rate=200.0, size=1.2, seed=1)
    before = before.with_noise(np.random.default_rng(1), 1e-5, 1e-3, np.array([0.3, 0.1]))
    before.record(folder / 'bag', JOINTS)
    command = ['identify', folder / 'bag', '--urdf', folder / 'arm.urdf', '--output']
    assert main([*map(str, command), str(folder / 'found')]) == 0
    return folder / 'found' / 'report.json'


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(two_link_urdf())
    return path


class Bench:
    """A node, and the topics around it."""

    def __init__(self, graph: Graph, urdf: Path, **parameters: Any) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        self.node = graph.add(
            IdentificationNode,
            **{
                'robot_description_file': str(urdf),
                'effort_semantics': 'torque',
                'autostart': True,
                'crosscheck': False,
                'publish_rate': 20.0,
                **parameters,
            },
        )
        self.states = graph.probe.create_publisher(JointState, 'joint_states', 1)
        self.friction = graph.collect(JointState, f'{NODE}/friction')
        self.residual = graph.collect(JointState, f'{NODE}/residual')
        assert graph.spin_until(lambda: self.node.is_active, 120.0)  # it may have to compile
        assert graph.matched(self.states)

    def play(self, log: SimulatedLog, seconds: float = np.inf, *, sign: float = 1.0) -> None:
        """Send a log as fast as the node takes it."""
        for t, q, tau in zip(log.stamps, log.position, log.effort):
            if t > seconds:
                return
            before = self.node.buffer.counters['accepted']
            self.states.publish(joint_state(JOINTS, q, (), sign * tau, 1000.0 + float(t)))
            end = time.monotonic() + 1.0
            while self.node.buffer.counters['accepted'] == before and time.monotonic() < end:
                self.graph.executor.spin_once(timeout_sec=0.05)

    def began(self) -> str:
        self.graph.spin_for(1.2)
        return str(self.statuses.values('identification')['start'])

    def call(self, name: str) -> Any:
        client = self.graph.probe.create_client(Trigger, f'{NODE}/{name}')
        return self.graph.call(client, Trigger.Request())

    def values(self) -> dict[str, tuple[float, float]]:
        """Return value and deviation of each friction term as they are now."""
        self.friction.clear()
        # The first ones may have been on their way.
        assert self.graph.spin_until(lambda: len(self.friction) > 3)
        last = self.friction[-1]
        return dict(zip(last.name, zip(last.position, np.sqrt(last.effort))))


def test_friction_is_learnt_saved_and_read_by_the_controllers(
    graph: Graph, urdf: Path, log: SimulatedLog, tmp_path: Path
) -> None:
    bench = Bench(graph, urdf, output_directory=str(tmp_path / 'found'))
    assert graph.spin_until(lambda: 'no equation yet' in bench.statuses.message('identification'))
    bench.play(log)
    for name, truth in zip(JOINTS, zip(VISCOUS, COULOMB)):
        found = bench.values()
        # One Coulomb level and a smooth sign against friction that sticks: some per cent.
        assert abs(found[f'{name}/viscous'][0] - truth[0]) < 0.15 * truth[0]
        assert abs(found[f'{name}/coulomb_positive'][0] - truth[1]) < 0.15 * truth[1]
        assert 0.0 < found[f'{name}/coulomb_positive'][1] < 0.25 * truth[1]
    assert graph.spin_until(lambda: bench.residual)
    answer = bench.call('save')
    assert answer.success, answer.message
    assert 'friction.yaml, identified.urdf, report.json' in answer.message
    friction = FrictionModel.from_file(tmp_path / 'found' / 'friction.yaml', JOINTS)
    np.testing.assert_allclose(friction.coulomb_positive, COULOMB, rtol=0.15)
    # The first link is heavier than the description says: of the error of gravity little is left.
    written, stated = load_urdf(tmp_path / 'found' / 'identified.urdf'), load_urdf(urdf)
    truth = load_urdf(two_link_urdf(3.5))
    poses = np.random.default_rng(0).uniform(-3.0, 3.0, (50, 2))
    true, learnt, described = (
        np.array([generalized_gravity(robot, q) for q in poses])
        for robot in (truth, written, stated)
    )
    assert np.linalg.norm(learnt - true) < 0.3 * np.linalg.norm(described - true)
    begun = read_offline_result(tmp_path / 'found' / 'report.json', stated)
    assert np.linalg.eigvalsh(begun.covariance)[0] > 0.0
    again = bench.call('save')
    assert not again.success
    assert 'found has something in it' in again.message
    assert 'set overwrite to true' in again.message


def test_frozen_estimates_do_not_change_in_any_bit(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path
) -> None:
    found = urdf.parent / 'found'
    bench = Bench(graph, urdf, offline_report=str(report), output_directory=str(found))
    bench.play(log, 0.5)
    answer = bench.call('save')
    assert not answer.success
    assert 'move the robot first' in answer.message, 'of nothing no model is made'
    assert not found.exists()
    bench.play(log.part(0.5, 4.0))
    assert bench.call('freeze').message == 'frozen'
    state = bench.node.running.state()
    before = bench.values()
    bench.play(log.part(4.0, 8.0))
    assert bench.values() == before
    for key, value in bench.node.running.state().items():
        np.testing.assert_array_equal(value, state[key], err_msg=key)
    assert bench.call('start').success
    bench.play(log.part(8.0, 12.0))
    assert bench.values() != before
    assert bench.call('reset').success
    start = bench.friction[-1].velocity
    assert [value for value, _ in bench.values().values()] == pytest.approx(list(start))


def test_inverted_efforts_are_named_and_right_again_with_their_signs(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path
) -> None:
    bench = Bench(graph, urdf, offline_report=str(report))
    bench.play(log, 15.0, sign=-1.0)
    assert graph.spin_until(
        lambda: 'has the opposite sign' in bench.statuses.message('identification')
    )
    assert 'effort_signs' in bench.statuses.message('identification')
    assert graph.spin_until(lambda: bench.friction and not bench.friction[-1].name), 'withdrawn'
    for step in ('deactivate', 'cleanup'):
        getattr(bench.node, f'trigger_{step}')()
    change = bench.node.set_parameters([Parameter('effort_signs', value=[-1.0, -1.0])])
    assert change[0].successful
    bench.node.trigger_configure()
    bench.node.trigger_activate()
    bench.play(log, 12.0, sign=-1.0)
    assert bench.node.running.refusal == ''
    assert bench.values()


def test_payload_is_withdrawn_and_another_one_is_refused_while_the_node_runs(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path
) -> None:
    frame = {'payload.frame': 'l2', 'state_timeout': 60.0}
    bench = Bench(graph, urdf, offline_report=str(report), **frame)
    (change,) = bench.node.set_parameters([Parameter('payload.mass', value=1.0)])
    assert not change.successful
    assert 'configure it again' in change.reason
    payloads = graph.collect(InertiaStamped, f'{NODE}/payload', LATCHED)
    bench.play(log, 9.0)
    assert graph.spin_until(lambda: payloads)
    assert payloads[-1].inertia.m == 0.0
    bench.node.trigger_deactivate()
    late = graph.collect(InertiaStamped, f'{NODE}/payload', LATCHED)
    graph.spin_for(0.5)
    assert late == []


def test_states_that_are_too_slow_for_the_cutoff_are_told(
    graph: Graph, urdf: Path, log: SimulatedLog
) -> None:
    bench = Bench(graph, urdf, cutoff=20.0)
    bench.play(log, 2.0)
    assert graph.spin_until(lambda: 'lower cutoff' in bench.statuses.message('identification'))
    assert '200 Hz' in bench.statuses.message('identification')


def test_contact_keeps_what_comes_with_it_from_being_learnt(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path
) -> None:
    bench = Bench(graph, urdf, offline_report=str(report))
    touch = graph.probe.create_publisher(Bool, f'{NODE}/contact', 1)
    assert graph.matched(touch)
    bench.play(log, 9.0)
    assert bench.node.running.refusal == ''
    touched(bench, touch, log, 9.0, 10.5)  # what came before the contact is still learnt from
    before = bench.values()
    touched(bench, touch, log, 10.5, 12.0)
    assert bench.node._last.use.states.tolist() == [RowState.CONTACT] * 2
    assert bench.values() == before
    graph.spin_for(1.5 * HELD)
    bench.play(log.part(12.0, 17.0))
    assert bench.values() != before


def touched(bench: Bench, touch: Any, log: SimulatedLog, start: float, stop: float) -> None:
    """Play a part of a log in contact, with pauses: without one it counts for a second only."""
    for begin in np.arange(start, stop, 0.25):
        bench.graph.spin_for(1.5 * HELD)
        timer = bench.graph.probe.create_timer(0.02, lambda: touch.publish(Bool(data=True)))
        assert bench.graph.spin_until(lambda: bench.node._contact.is_told(time.monotonic()))
        bench.play(log.part(float(begin), float(begin) + 0.25))
        bench.graph.probe.destroy_timer(timer)


def test_state_is_kept_over_a_restart_and_refused_for_another_robot(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path, tmp_path: Path
) -> None:
    state = str(tmp_path / 'state.npz')
    bench = Bench(graph, urdf, state_file=state, offline_report=str(report), track_stribeck=True)
    assert bench.began() == 'begun anew: there was no saved state'
    bench.play(log, 8.0)
    learnt = bench.values()
    assert bench.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    answer = bench.call('start')
    assert (answer.success, answer.message) == (False, 'not learning: the node is not active')
    assert graph.spin_until(lambda: bench.friction and not bench.friction[-1].name), 'withdrawn'
    assert bench.node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert bench.node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert bench.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert bench.began() == 'resumed from the saved state'
    still = 0.0 * log.position[:300]
    bench.play(SimulatedLog(log.stamps[:300] + 50.0, still, still, log.effort[:300]))
    assert bench.values() == learnt, 'at rest nothing is learnt'
    bench.node.trigger_deactivate()
    bench.node.trigger_cleanup()
    urdf.write_text(two_link_urdf(9.0))
    assert bench.node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    began = bench.node._saved_state.message
    assert began.startswith('begun anew: ')
    assert 'robot' in began
    assert began.endswith('it is kept as state.npz.refused')
    assert [entry.name for entry in tmp_path.glob('state*')] == ['state.npz.refused']


def test_bad_states_are_dropped_and_the_node_lives(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path
) -> None:
    bench = Bench(graph, urdf, offline_report=str(report))
    bench.play(log, 2.0)
    for message in (
        joint_state(JOINTS, [np.nan, 0.0], (), [0.0, 0.0], 1002.1),
        joint_state(JOINTS, [0.0, 0.0], (), [np.inf, 0.0], 1002.2),
        joint_state(JOINTS, [0.0, 0.0], (), (), 1002.3),
        b'\x00\x01\x00\x00garbage',
    ):
        bench.states.publish(message)
        graph.spin_for(0.05)
    begun = bench.node.running.online
    for i in range(20):  # two publishers with different clocks
        for start in (1002.4, 5.0):
            bench.states.publish(joint_state(JOINTS, [0.0, 0.0], (), [0.0, 0.0], start + 0.01 * i))
            graph.spin_for(0.01)
        if i == 1:  # the first one may have been a reset of time
            begun = bench.node.running.online
    assert bench.node.running.online is begun, 'a filter is not begun anew with every message'
    assert graph.spin_until(
        lambda: 'stamps of two clocks take turns: 1002.' in bench.statuses.message('joint states')
    )
    graph.spin_for(1.1)
    bench.play(log.part(2.5, 5.0))
    assert bench.node.running.online is not begun
    assert all(np.isfinite(bench.values()[name]).all() for name in bench.values())
    assert all(np.isfinite(message.effort).all() for message in bench.residual)


def test_payload_in_doubt_is_repeated_for_a_short_time_only(
    graph: Graph, urdf: Path, log: SimulatedLog, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload_output, 'HOLD', 0.5)
    bench = Bench(graph, urdf, offline_report=str(report), payload__frame='l2', state_timeout=60.0)
    payload = graph.collect(InertiaStamped, f'{NODE}/payload', LATCHED)
    bench.play(log, 12.0)
    assert graph.spin_until(lambda: payload), 'nothing is carried, and that is known'
    assert bench.call('reset').success, 'what the efforts mean is open again, and so is the rest'
    assert not bench.node.running.is_payload_known
    assert graph.spin_until(
        lambda: 'not repeated' in bench.statuses.values('identification').get('payload', '')
    )
    payload.clear()
    graph.spin_for(1.5)
    assert not payload, 'so that who takes it can tell that it is no longer known'


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('effort_semantics', 'gravity_compensated', 'have the driver publish the whole torque'),
        ('effort_semantics', 'current', 'needs torque_constants'),
        ('effort_signs', [0.5, 1.0], 'expected 1 or -1 for each joint'),
        ('state_file', '~nobody_of_that_name/state.npz', 'the folder of that user is not known'),
        ('output_directory', __file__, 'test_identification_node.py, which is no folder'),
        ('cutoff', 1e-9, 'expected 0.1 to 100, or 0 for that of the report'),
        ('offline_report', '/nowhere/report.json', "no file '/nowhere/report.json'"),
    ],
)
def test_senseless_parameters_are_refused(
    graph: Graph, urdf: Path, name: str, value: Any, reason: str, capfd: Any
) -> None:
    assert_refused(graph, urdf, capfd, reason, **{name: value})


def assert_refused(graph: Graph, urdf: Path, capfd: Any, reason: str, **parameters: Any) -> None:
    """Assert that the node says why it does not configure, in one line."""
    node = graph.add(
        IdentificationNode,
        **{
            'robot_description_file': str(urdf),
            'effort_semantics': 'torque',
            'crosscheck': False,
            **parameters,
        },
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    said = capfd.readouterr().err
    assert reason in said
    assert 'Traceback' not in said


def test_what_is_no_saved_state_is_refused_and_left_alone(
    graph: Graph, urdf: Path, tmp_path: Path, capfd: Any
) -> None:
    notes = tmp_path / 'notes.yaml'
    notes.write_text('joints: [a]')
    reason = 'notes.yaml: it is no saved state of an online identification; name another file'
    assert_refused(graph, urdf, capfd, reason, state_file=str(notes))
    assert notes.read_text() == 'joints: [a]'
    assert not list(tmp_path.glob('*.refused*'))


def test_report_that_is_not_fit_needs_a_word(
    graph: Graph, urdf: Path, report: Path, tmp_path: Path, capfd: Any
) -> None:
    content = json.loads(report.read_text())
    content['verdict']['is_fit'] = False
    content['errors']['training']['relative'] = 1.11
    content['errors']['held_out'] = {}
    unfit = tmp_path / 'report.json'
    unfit.write_text(json.dumps(content))
    reason = 'must not be used, with an error of 111 % on its own data; identify anew, or set'
    assert_refused(graph, urdf, capfd, reason, offline_report=str(unfit))
    bench = Bench(graph, urdf, offline_report=str(unfit), accept_unfit_report=True)
    assert graph.spin_until(lambda: 'error of 111 %' in bench.statuses.message('model health'))

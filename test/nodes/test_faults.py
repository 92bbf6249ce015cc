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
What becomes of the torque when something goes wrong, between processes over DDS.

The simulated arm, which keeps the last command for ever, the controller and the watchdog run in
processes of their own. The joint states pass through this process, which spoils them. After each
fault the arm is put back and the torque is switched on again. A table tells what happened.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import copy
import signal
import time
from typing import Any

from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from fault_bench import (
    Bench,
    COMMAND_TIMEOUT,
    COMMANDS,
    GRACE,
    NAMES,
    RAMP,
    Relay,
    SLACK,
    START,
    TIMEOUT,
)
from machine_stalls import MACHINE_STALLS
from node_processes import Processes
from robot_dynamics_ros.ros.qos import LATCHED
from ros_graph import Graph


@pytest.fixture(scope='module')
def bench() -> Iterator[Bench]:
    graph, processes = Graph(), Processes()
    try:
        bench = Bench(graph, processes)
        bench.wait_until_ready()
        yield bench
        print('\n' + bench.table())
    finally:
        processes.end()
        graph.close()


def edited(**changes: Any) -> Relay:
    """Return a relay that changes fields of each message; callables get the message."""

    def relay(bench: Bench, message: JointState) -> None:
        for name, change in changes.items():
            setattr(message, name, change(message) if callable(change) else change)
        bench.pass_on(message)

    return relay


def stamped(shift: Callable[[Bench, int], int]) -> Relay:
    """Return a relay that sets the stamp to what `shift` makes of bench and stamp [ns]."""

    def relay(bench: Bench, message: JointState) -> None:
        stamp = message.header.stamp
        value = shift(bench, stamp.sec * 10**9 + stamp.nanosec)
        stamp.sec, stamp.nanosec = divmod(value, 10**9)
        bench.pass_on(message)

    return relay


def tenth(bench: Bench, message: JointState) -> None:
    if bench.count % 10 == 0:
        bench.pass_on(message)


def bursts(bench: Bench, message: JointState) -> None:
    bench.kept.append(message)
    if len(bench.kept) >= 12:
        for kept in bench.kept:
            bench.pass_on(kept)
        bench.kept.clear()


def jittery(bench: Bench, message: JointState) -> None:
    """Pass each state on up to 60 ms late, so that states also overtake each other."""
    late = float(np.random.default_rng(bench.count).uniform(0.0, 0.06))
    bench.late.append((time.monotonic() + late, message))
    now = time.monotonic()
    due = [each for at, each in bench.late if at <= now]
    bench.late = [(at, each) for at, each in bench.late if at > now]
    for each in due:
        bench.pass_on(each)


def shuffled(message: JointState) -> None:
    order = np.random.default_rng().permutation(len(message.name))
    for name in ('name', 'position', 'velocity'):
        values = list(getattr(message, name))
        setattr(message, name, [values[i] for i in order])


def in_another_order(bench: Bench, message: JointState) -> None:
    message.effort = []
    shuffled(message)
    bench.pass_on(message)


def jump(bench: Bench, message: JointState) -> None:
    if bench.count % 25 == 0:
        message.position[1] += 1.0
    bench.pass_on(message)


def extra(bench: Bench, message: JointState) -> None:
    message.name = ['finger', *message.name]
    for name in ('position', 'velocity', 'effort'):
        values = getattr(message, name)
        setattr(message, name, [float('nan'), *values] if len(values) else [])
    bench.pass_on(message)


def with_garbage(bench: Bench, message: JointState) -> None:
    bench.pass_on(message)
    content = serialize_message(message)
    rng = np.random.default_rng(bench.count)
    for cut in (0, 3, 17, len(content) // 2):
        bench.pass_on(bytes(content[:cut]) + rng.bytes(8))


def without(name: str) -> Relay:
    def relay(bench: Bench, message: JointState) -> None:
        keep = [i for i, each in enumerate(message.name) if each != name]
        for key in ('name', 'position', 'velocity', 'effort'):
            values = list(getattr(message, key))
            setattr(message, key, [values[i] for i in keep] if values else [])
        bench.pass_on(message)

    return relay


def nothing(bench: Bench, message: JointState) -> None:
    return


def nan_position(message: JointState) -> Any:
    position = copy.copy(message.position)
    position[3] = float('nan')
    return position


HARMLESS: dict[str, Relay] = {
    'states at a tenth of the rate': tenth,
    'states in bursts': bursts,
    'states late by 0 to 60 ms': jittery,
    'another order in every message': in_another_order,
    'unused joint with NaN': extra,
    'NaN velocity, infinite effort': edited(velocity=[float('nan')] * 6, effort=[np.inf] * 6),
    'empty velocity and effort': edited(velocity=[], effort=[]),
    'position jumps now and then': jump,
    'zero stamps': stamped(lambda bench, stamp: 0),
    'stamps step back now and then': stamped(
        lambda bench, stamp: stamp - (20_000_000 if bench.count % 3 == 0 else 0)
    ),
    'stamps of a simulation started again': stamped(lambda bench, stamp: stamp % 10**12),
    'garbage on the state topic': with_garbage,
}

DANGEROUS: dict[str, Relay] = {
    'states stop': nothing,
    'NaN in a position': edited(position=nan_position),
    'infinite position': edited(position=[np.inf] * 6),
    'a joint is missing': without('joint_3'),
    'short arrays': edited(position=lambda message: list(message.position)[:4]),
    'a name twice': edited(name=['joint_1', *NAMES[:5]]),
    'other joints only': edited(name=[f'leg_{i}' for i in range(6)]),
    'one stamp for ever': stamped(lambda bench, stamp: 10**9),
    'speed beyond the limit': edited(velocity=[0.0, 5.5, 0.0, 0.0, 0.0, 0.0]),
}

IN_CI = ('states in bursts', 'garbage on the state topic', 'states stop', 'a joint is missing')


def faults(kinds: dict[str, Relay]) -> list[Any]:
    """Return the faults as parameters; most of them belong to the long runs."""
    return [
        pytest.param(name, id=name, marks=() if name in IN_CI else pytest.mark.soak)
        for name in kinds
    ]


@pytest.mark.parametrize('fault', faults(HARMLESS))
def test_torque_stays_right(bench: Bench, fault: str) -> None:
    began = bench.spoil(HARMLESS[fault])
    times = np.array([began, *(at for at, _ in bench.commands), time.monotonic()])
    torque = np.array([data for _, data in bench.commands])
    bench.assert_bounded()
    assert np.diff(times).max() < TIMEOUT + MACHINE_STALLS.since(began), 'the stream goes on'
    # The arm holds still: friction carries the millimetres that it may have moved.
    np.testing.assert_allclose(torque, np.tile(bench.gravity, (len(torque), 1)), atol=0.5)
    bench.note(fault, 'kept', None, 'of itself')
    bench.graph.spin_for(0.3)
    assert bench.is_carrying()


@pytest.mark.parametrize('fault', faults(DANGEROUS))
def test_torque_ends_in_time(bench: Bench, fault: str) -> None:
    began = bench.spoil(DANGEROUS[fault])
    safe = bench.time_to_zero(began)
    bench.assert_bounded()
    assert safe < TIMEOUT + GRACE + RAMP + SLACK + MACHINE_STALLS.since(began)
    assert bench.graph.spin_until(lambda: 'fault' in bench.statuses.message('torque'))
    reason = bench.statuses.message('torque')
    bench.recover()
    bench.note(fault, reason, safe, 'reset, enable')


DESCRIPTIONS = {
    'empty': '',
    'no XML': 'the robot is out',
    'malformed': '<robot name="es5"><link name="a">',
    'another robot': '<robot name="other"><link name="a"/></robot>',
    'entities': '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">]><robot name="r">&a;&a;</robot>',
    '50 MB': '<robot name="r">' + ' ' * 50_000_000 + '</robot>',
}

NONSENSE: list[tuple[str, Any]] = [
    ('scale', float('nan')),
    ('scale', -1.0),
    ('scale', 'much'),
    ('payload.mass', 1e300),
    ('payload.com', [float('inf'), 0.0, 0.0]),
    ('payload.com', [0.0]),
    ('payload.frame', 'nowhere'),
    ('gravity', [0.0, 0.0, 9.81]),
    ('effort_limits', [-1.0] * 6),
    ('state_timeout', -1.0),
]


@pytest.mark.soak
def test_senseless_descriptions_and_parameters_change_no_torque(bench: Bench) -> None:
    if not bench.is_carrying():
        bench.recover()
    probe = bench.graph.probe
    publisher = probe.create_publisher(String, 'robot_description', LATCHED)
    changing = probe.create_client(SetParameters, '/gravity_compensation_node/set_parameters')
    assert bench.graph.matched(publisher)
    bench.commands.clear()
    for text in DESCRIPTIONS.values():
        publisher.publish(String(data=text))
        bench.graph.spin_for(0.3)
    for name, value in NONSENSE:
        change = Parameter(name, value=value).to_parameter_msg()
        answer = bench.graph.call(changing, SetParameters.Request(parameters=[change]))
        if name == 'payload.frame':  # without a mass it says nothing yet
            continue
        assert not answer.results[0].successful, f'{name}: {value}'
        assert answer.results[0].reason
    assert bench.controller.poll() is None
    bench.assert_bounded()
    torque = np.array([data for _, data in bench.commands])
    np.testing.assert_allclose(torque, np.tile(bench.gravity, (len(torque), 1)), atol=0.5)
    probe.destroy_publisher(publisher)
    bench.note('descriptions: ' + ', '.join(DESCRIPTIONS), 'kept', None, 'of itself')
    bench.note(f'{len(NONSENSE)} senseless parameters', 'kept', None, 'of itself')


def test_killed_plant_is_told_from_its_return(bench: Bench) -> None:
    if not bench.is_carrying():
        bench.recover()
    bench.commands.clear()
    bench.plant.kill()
    began = time.monotonic()
    safe = bench.time_to_zero(began)
    bench.assert_bounded()
    assert safe < TIMEOUT + GRACE + RAMP + SLACK + MACHINE_STALLS.since(began)
    bench.start_plant()
    count = bench.count
    assert bench.graph.spin_until(lambda: bench.count > count + 100, START)
    assert bench.controller.poll() is None
    assert not np.any(bench.commands[-1][1]), 'its return alone switches nothing on'
    bench.recover()
    bench.note('plant killed and started again', 'gravity, then zero', safe, 'reset, enable')


def test_second_commander_is_named_and_outlived(bench: Bench) -> None:
    if not bench.is_carrying():
        bench.recover()
    rival = bench.graph.probe.create_publisher(Float64MultiArray, COMMANDS, 1)
    assert bench.graph.matched(rival, 3)  # controller, watchdog, plant
    strange = Float64MultiArray(data=(0.98 * bench.gravity).tolist())
    bench.commands.clear()
    began = time.monotonic()
    timer = bench.graph.probe.create_timer(0.05, lambda: rival.publish(strange))
    assert bench.graph.spin_until(
        lambda: 'commanded by /probe' in bench.statuses.message('publishers')
    )
    timer.cancel()
    bench.graph.probe.destroy_publisher(rival)
    bench.assert_bounded()
    own = [at for at, data in bench.commands if not np.allclose(data, strange.data)]
    assert np.diff(own).max() < TIMEOUT + MACHINE_STALLS.since(began), 'the node goes on'
    bench.graph.spin_for(0.3)
    assert bench.is_carrying()
    bench.note('second publisher of commands', 'kept, and that of the other', None, 'of itself')


@pytest.mark.soak
def test_controller_that_hangs_loses_the_torque_and_does_not_take_it_back(bench: Bench) -> None:
    if not bench.is_carrying():
        bench.recover()
    assert bench.graph.spin_until(lambda: bench.statuses.message('watchdog') == 'under torque')
    bench.commands.clear()
    bench.controller.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    try:
        safe = bench.time_to_zero(began)
    finally:
        bench.controller.send_signal(signal.SIGCONT)
    assert safe < COMMAND_TIMEOUT + GRACE + RAMP + SLACK + MACHINE_STALLS.since(began)
    bench.graph.spin_for(1.0)
    bench.assert_bounded()
    assert not np.any(bench.commands[-1][1])
    assert max(at for at, data in bench.commands if np.any(data)) - began < safe + 1e-3
    assert bench.graph.spin_until(
        lambda: 'no command was sent' in bench.statuses.message('torque')
    )
    reason = bench.statuses.message('torque')
    bench.recover()
    bench.note('controller hangs (SIGSTOP)', reason, safe, 'reset, enable')


@pytest.mark.soak
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_killed_controller_leaves_no_torque(bench: Bench, number: signal.Signals) -> None:
    if not bench.is_carrying():
        bench.recover()
    assert bench.graph.spin_until(lambda: bench.statuses.message('watchdog') == 'under torque')
    bench.commands.clear()
    bench.controller.send_signal(number)
    began = time.monotonic()
    safe = bench.time_to_zero(began)
    bench.assert_bounded()
    assert safe < COMMAND_TIMEOUT + GRACE + RAMP + SLACK + MACHINE_STALLS.since(began)
    if number == signal.SIGKILL:
        assert safe > COMMAND_TIMEOUT + GRACE
        assert bench.graph.spin_until(
            lambda: 'has taken over' in bench.statuses.message('watchdog')
        )
    bench.controller.wait(10.0)
    # Still and in its place for the controller that comes.
    bench.change_plant(Transition.TRANSITION_DEACTIVATE)
    bench.change_plant(Transition.TRANSITION_ACTIVATE)
    bench.start_controller()
    assert bench.graph.spin_until(bench.is_carrying, START)
    bench.graph.spin_for(0.6)
    assert bench.is_carrying()
    bench.assert_bounded()
    assert bench.graph.spin_until(lambda: bench.statuses.message('watchdog') == 'under torque')
    what = 'ramped to zero' if number == signal.SIGTERM else 'watchdog: gravity, then zero'
    bench.note(f'controller gets {number.name}', what, safe, 'started again')

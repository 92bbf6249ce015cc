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
Measure what following a robot costs: everything together, and in nodes at 1 kHz.

The first part gives joint states of a Panda at 1 kHz to the running model (filters, rows, meaning
of efforts, friction, payload, base parameters, health) and to the contact monitor, in one thread,
and prints what a state costs in time of that thread, whatever else the machine does, and which
part of it costs how much.

The second part starts identification_node, external_torque_node and a relay that does nothing in
processes of their own, sends joint states of the moving ES5 at 1 kHz to all of them, and prints
how many each has taken.

    python benchmark/online_cost.py [--seconds 30] [--states 60000]

"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import resource
import subprocess
import sys
import time
from typing import Any

os.environ['OPENBLAS_NUM_THREADS'] = os.environ['OMP_NUM_THREADS'] = '1'

import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from example_robots import example_urdf  # noqa: E402
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort  # noqa: E402
from robot_dynamics_ros.core.dynamics import rnea_batch  # noqa: E402
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor  # noqa: E402
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance  # noqa: E402
from robot_dynamics_ros.core.external_torque.momentum_observer import (  # noqa: E402
    MomentumObserver,
)
from robot_dynamics_ros.core.identification.identification_model import (  # noqa: E402
    identification_model,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure  # noqa: E402
from robot_dynamics_ros.core.identification.offline_result import OfflineResult  # noqa: E402
from robot_dynamics_ros.core.identification.online.online_settings import (  # noqa: E402
    OnlineSettings,
)
from robot_dynamics_ros.core.identification.online.online_start import (  # noqa: E402
    open_deviations,
)
from robot_dynamics_ros.core.identification.online.running_model import RunningModel  # noqa: E402
from robot_dynamics_ros.core.model.robot_model import RobotModel  # noqa: E402
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402
from robot_dynamics_ros.report.table import format_table  # noqa: E402
from robot_dynamics_ros.resources import urdf_path  # noqa: E402

NOISE = 0.1
"""Of the efforts [N m]."""

WARM = 6000
"""States that are not counted."""

JOINTS = [f'joint_{i}' for i in range(1, 7)]
NODES = {
    'identification_node': {'offline_report': "''"},
    'external_torque_node': {'friction_source': 'none', 'friction_file': "''"},
}


def sines(robot: RobotModel, count: int) -> tuple[Any, Any, Any, Any]:
    """Return stamps, positions, velocities and efforts of a motion at 1 kHz."""
    rng = np.random.default_rng(0)
    stamps = 1e-3 * np.arange(1, count + 1)
    omega = 2.0 * np.pi * rng.uniform(0.1, 0.5, robot.nv)
    angle = omega * stamps[:, None] + rng.uniform(0.0, 6.0, robot.nv)
    q, v, a = 0.6 * np.sin(angle), 0.6 * omega * np.cos(angle), -0.6 * omega**2 * np.sin(angle)
    tau = rnea_batch(robot, q, v, a) + 2.0 * v + np.tanh(v / 0.05)
    return stamps, q, v, tau + NOISE * rng.normal(size=q.shape)


def running_model(robot: RobotModel, frame: str) -> RunningModel:
    """Return a running model that begins with the right arm."""
    model = identification_model(robot, ModelStructure(), robot.nv * (0.05,))
    parameters = np.array(model.prior)
    for k, term in enumerate(model.terms, start=model.n_inertial):
        parameters[k] = {'viscous': 2.0, 'coulomb': 1.0}.get(term.kind, 0.0)
    spread = np.full(robot.nv, NOISE)
    found = OfflineResult(
        model=model, parameters=parameters, base=model.base.to_base(parameters),
        covariance=np.diag((0.002 * open_deviations(model, spread)) ** 2), spread=spread,
        correlation_time=0.1, inflation=3.0, prior_weight=1.0, cutoff=5.0, motion_cutoff=20.0,
        effort_delay=0.0, joint_errors=np.full(robot.nv, 0.02), relative_error=0.02,
        is_held_out=True, is_fit=True,
    )  # fmt: skip
    return RunningModel(found, OnlineSettings(payload_frame=frame))


class Estimators:
    """Everything that follows a Panda."""

    def __init__(self) -> None:
        self.robot = load_urdf(example_urdf('panda.urdf'), locked={'panda_finger_joint1': 0.0})
        self.running = running_model(self.robot, 'panda_link8')
        self.monitor = ContactMonitor(
            MomentumObserver(MomentumBalance(self.robot, None), np.full(self.robot.nv, 30.0)),
            MeasuredEffort('torque', self.robot.nv),
            frame='panda_link8',
        )
        self.spent: dict[str, int] = {}

    def watch_parts(self) -> None:
        """Sum up in `spent` how long each part takes [ns]."""
        online = self.running.online
        for part, owner, names in (
            ('rows', online.rows, ['step']),
            ('friction', online.friction, ['step']),
            ('base parameters', online.base, ['step', 'work']),
            ('payload and changes', self.running.watch, ['step', 'work', 'effort']),
            ('meaning of efforts', self.running.semantics, ['step']),
            ('health', self.running._monitor, ['step', 'work']),
            ('contact', self.monitor, ['step']),
        ):
            for name in names:
                setattr(owner, name, self._timed(part, getattr(owner, name)))

    def _timed(self, part: str, method: Any) -> Any:
        self.spent[part] = 0

        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.thread_time_ns()
            found = method(*arguments, **named)
            self.spent[part] += time.thread_time_ns() - began
            return found

        return timed


def show_cost(count: int) -> None:
    """Print what a state of a Panda costs, all estimators together."""
    all_of = Estimators()
    running, monitor = all_of.running, all_of.monitor
    stamps, q, v, tau = sines(all_of.robot, count)
    took = np.zeros((2, count))
    memory = []
    for k in range(count):
        began = time.thread_time_ns()
        running.step(float(stamps[k]), q[k], tau[k])
        between = time.thread_time_ns()
        monitor.step(float(stamps[k]), q[k], v[k], tau[k])
        took[:, k] = between - began, time.thread_time_ns() - between
        if k % 5000 == WARM % 5000:
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)
    micro = 1e-3 * np.vstack([took, took.sum(axis=0)])[:, WARM:]
    rows = [
        _cost(name, each)
        for name, each in zip(('running model', 'contact monitor', 'together'), micro)
    ]
    headers = ['one state of a Panda [us]', 'mean', 'median', '99 %', '99.9 %']
    print(format_table(headers, rows, right=headers[1:]))
    print(f'(goal: 100 us together) learning: {running.refusal or "yes"}')
    print(f'memory [MiB], every 5 s: {", ".join(f"{m:.1f}" for m in memory)}')


def show_parts(count: int) -> None:
    """Print which part of a state costs how much; to look at the clock costs as well."""
    all_of = Estimators()
    all_of.watch_parts()
    stamps, q, v, tau = sines(all_of.robot, count)
    spent = np.zeros((count, len(all_of.spent)))
    for k in range(count):
        all_of.spent.update(dict.fromkeys(all_of.spent, 0))
        all_of.running.step(float(stamps[k]), q[k], tau[k])
        all_of.monitor.step(float(stamps[k]), q[k], v[k], tau[k])
        spent[k] = list(all_of.spent.values())
    micro = 1e-3 * spent[WARM:].T
    rows = [_cost(part, each) for part, each in zip(all_of.spent, micro)]
    headers = ['part of a state [us]', 'mean', 'median', '99 %', '99.9 %']
    print(format_table(headers, rows, right=headers[1:]))


def _cost(name: str, micro: np.ndarray) -> list[str | float]:
    values = (micro.mean(), *np.percentile(micro, [50, 99, 99.9]))
    return [name, *(f'{value:.1f}' for value in values)]


def show_nodes(seconds: float) -> None:
    """Print how many joint states nodes take at 1 kHz, beside a relay that does nothing."""
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    import rclpy
    from sensor_msgs.msg import JointState

    from robot_dynamics_ros.ros.serialized import JointStateTemplate

    programs = {
        name: [
            sys.executable, '-c',
            f'from robot_dynamics_ros.nodes.{name} import main; main()', '--ros-args',
            '--params-file', str(ROOT / 'config' / f'{name}.yaml'),
            *(part for key, value in extra.items() for part in ('-p', f'{key}:={value}')),
        ]
        for name, extra in NODES.items()
    }  # fmt: skip
    programs['relay'] = [sys.executable, str(Path(__file__)), '--relay']
    rclpy.init()
    probe = rclpy.create_node('probe')
    publisher = probe.create_publisher(JointState, 'joint_states', 1)
    counts: dict[str, list[int]] = {name: [] for name in programs}
    _count_accepted(probe, counts)
    processes = [
        subprocess.Popen(program, cwd=ROOT, env={**os.environ, 'PYTHONPATH': _path()})
        for program in programs.values()
    ]
    try:
        while publisher.get_subscription_count() < len(programs):
            rclpy.spin_once(probe, timeout_sec=0.1)
        robot = load_urdf(urdf_path('es5.urdf.xacro'))
        _, q, v, tau = sines(robot, 20_000)
        message = JointStateTemplate(JOINTS)
        for each in counts.values():
            each.clear()
        sent, begin = 0, time.perf_counter()
        while sent < 1000.0 * seconds:
            k = sent % len(q)
            message.position[:], message.velocity[:], message.effort[:] = q[k], v[k], tau[k]
            message.set_stamp(*divmod(time.time_ns(), 10**9))
            publisher.publish(bytes(message))
            sent += 1
            while (left := begin + 1e-3 * sent - time.perf_counter()) > 0.0:
                rclpy.spin_once(probe, timeout_sec=0.0)
                time.sleep(min(left, 1e-4))
        for _ in range(15):
            rclpy.spin_once(probe, timeout_sec=0.1)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(10.0)
    rows: list[list[str | float]] = [
        [name, str(sum(each)), f'{100.0 * sum(each) / sent:.2f} %']
        for name, each in counts.items()
    ]
    print(format_table(['process', f'taken of {sent}', 'share'], rows, right=['share']))
    probe.destroy_node()
    rclpy.shutdown()


def _path() -> str:
    return os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])


def _count_accepted(probe: Any, counts: dict[str, list[int]]) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from std_msgs.msg import UInt64

    def on_diagnostics(array: DiagnosticArray) -> None:
        for status in array.status:
            name, _, entry = status.name.partition(': ')
            if entry == 'joint states' and name in counts:
                values = {value.key: value.value for value in status.values}
                counts[name].append(int(values.get('messages accepted', 0)))

    def on_relay(message: UInt64) -> None:
        counts['relay'].append(message.data)

    probe.create_subscription(DiagnosticArray, '/diagnostics', on_diagnostics, 100)
    probe.create_subscription(UInt64, 'relayed', on_relay, 10)


def run_relay() -> None:
    """Take joint states and do nothing but count them."""
    import rclpy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import UInt64

    from robot_dynamics_ros.ros.qos import STATE_IN

    rclpy.init()
    node = rclpy.create_node('relay')
    publisher = node.create_publisher(UInt64, 'relayed', 10)
    taken = [0]

    def on_state(message: JointState) -> None:
        taken[0] += 1

    def tell() -> None:
        publisher.publish(UInt64(data=taken[0]))
        taken[0] = 0

    node.create_subscription(JointState, 'joint_states', on_state, STATE_IN)
    node.create_timer(1.0, tell)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument(
        '--seconds', type=float, default=30.0, help='time of the nodes, 0 for none'
    )
    parser.add_argument('--states', type=int, default=60_000, help='states of the first part')
    parser.add_argument('--relay', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.relay:
        run_relay()
        return
    show_cost(options.states)
    show_parts(options.states // 2)
    if options.seconds > 0.0:
        show_nodes(options.seconds)


if __name__ == '__main__':
    main()

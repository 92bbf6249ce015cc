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

"""Public logs of real robots through DDS into identification_node: as good as offline."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from example_robots import example_urdf
from real_logs import error_on, PANDA, PANDA_LOCKED, record_of, UR10
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    identify,
)
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import start_of_description
from robot_dynamics_ros.core.identification.online.running_model import RunningModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.identification_node import IdentificationNode
from ros_graph import Graph, joint_state


@pytest.mark.parametrize(
    ('parts', 'urdf', 'prefix', 'border'),
    [
        pytest.param(UR10, 'ur10_robot.urdf', '', 18.0, marks=pytest.mark.soak),
        (PANDA, 'panda.urdf', 'panda_joint', 16.0),
    ],
    ids=['UR10', 'Panda'],
)
def test_frozen_online_model_is_as_good_as_the_offline_one(
    graph: Graph, parts: tuple[str, ...], urdf: str, prefix: str, border: float
) -> None:
    locked = PANDA_LOCKED if prefix else {}
    robot = load_urdf(example_urdf(urdf), locked=locked)
    record = record_of(robot, parts, prefix)
    training, rest = record.between(0.0, border), record.between(border, 1e9)
    found = identify(robot, [training], [rest], IdentificationOptions(cutoff=5.0))
    offline = found.held_out['identified']['filtered'].relative
    assert offline is not None

    fixed = {'locked_joints': list(locked), 'locked_positions': [0.0]} if locked else {}
    node = graph.add(
        IdentificationNode,
        robot_description_file=str(example_urdf(urdf)),
        **fixed,
        effort_semantics='torque',
        standstill=0.0,
        crosscheck=False,
        autostart=True,
    )
    states = graph.probe.create_publisher(JointState, 'joint_states', 1)
    assert graph.spin_until(lambda: node.is_active, 120.0)
    # From the description with everything open; form and widths of the friction as offline.
    start = start_of_description(found.model, found.linear.spread, found.covariance.inflation)
    settings = OnlineSettings(
        cutoff=5.0, motion_cutoff=found.cutoffs.motion_cutoff, slowest=0.0, base_memory=1e9
    )
    node.running = RunningModel(start, settings)
    assert graph.matched(states)
    joints = list(robot.joint_names)
    for t, q, tau in zip(training.stamps.tolist(), training.position, training.effort):
        before = node.buffer.counters['accepted']
        states.publish(joint_state(joints, q, (), tau, 1000.0 + t))
        end = time.monotonic() + 2.0
        while node.buffer.counters['accepted'] == before and time.monotonic() < end:
            graph.executor.spin_once(timeout_sec=0.05)
    assert node.running.semantics.faults == ()
    assert node.running.refusal == ''
    node.running.online.finish()
    frozen = consistent_fit(found.model, node.running.online.base.fit, found.prior_weight)
    online = error_on(found, rest, frozen.base)
    print(f'{parts[0]}: held-out error {online:.4f} online, {offline:.4f} offline')
    assert online < 1.1 * offline
    assert np.isfinite(node.running.online.friction.estimate).all()

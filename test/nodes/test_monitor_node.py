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

"""monitor_node in a graph: it compares what comes, and says when nothing does."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.parameter import Parameter

from robot_dynamics_ros.nodes.monitor_node import MonitorNode
from ros_graph import Graph, StateFeed, Statuses

pytest.importorskip('pinocchio')

NAMES = [f'joint_{i}' for i in range(1, 7)]


def test_states_that_come_are_compared(graph: Graph) -> None:
    statuses = Statuses(graph)
    node = graph.add(
        MonitorNode,
        robot_description_file='package://robot_dynamics_ros/urdf/es5.urdf.xacro',
        autostart=True,
        crosscheck=False,
        rate=20.0,
        state_timeout=0.3,
    )
    assert graph.spin_until(lambda: node.is_active)
    assert graph.spin_until(
        lambda: statuses.message('live cross-check') == 'no state was compared yet'
    )
    assert graph.spin_until(lambda: 'no fresh state' in statuses.message('joint states'))
    feed = StateFeed(graph, NAMES)
    feed.position = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
    feed.velocity = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
    assert graph.spin_until(lambda: 'passed' in statuses.message('live cross-check'))
    assert int(statuses.values('live cross-check')['states compared']) > 0
    assert statuses.values('live cross-check')['states that differ'] == '0'
    feed.is_on = False
    assert graph.spin_until(lambda: 'stale, of' in statuses.message('live cross-check'))
    assert 'passed' in statuses.message('live cross-check')  # still what was found
    bare, compared = node.model, int(statuses.values('live cross-check')['states compared'])
    for frame, is_taken in (('tool0', True), ('hand', False)):
        result = node.set_parameters_atomically(
            [Parameter('payload.mass', value=2.0), Parameter('payload.frame', value=frame)]
        )
        assert result.successful is is_taken
    assert "'hand'" in result.reason
    assert node.model is not bare and node._live.model is node.model
    feed.is_on = True
    assert graph.spin_until(
        lambda: (
            statuses.message('live cross-check').startswith('passed')
            or int(statuses.values('live cross-check')['states compared']) > compared
        )
    )
    assert statuses.values('live cross-check')['states that differ'] == '0'
    assert node.trigger_deactivate()
    assert node.trigger_cleanup()

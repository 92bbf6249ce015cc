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

"""The topics of the nodes are those that docs/nodes.md names."""

import ast
import importlib
from pathlib import Path
import re
from typing import Any

import pytest
from rclpy.lifecycle import LifecycleNode

from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from robot_dynamics_ros.ros.robot_node import RobotNode
from ros_graph import Graph

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'nodes.md'
FOREIGN = ('/parameter_events', '/rosout')
TERMS = ('inertia', 'coriolis', 'gravity', 'friction', 'feedback')
LINKS = ('base_link', *(f'link_{number}' for number in range(1, 7)))
JOINTS = tuple(f'joint_{number}' for number in range(1, 7))
PARAMETERS: dict[str, dict[str, Any]] = {
    'forward_simulation_node': {
        'publish_clock': True,
        'floating_base': True,
        'initial_base_pose': [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0],
        'world_file': 'package://robot_dynamics_ros/config/worlds/floor.yaml',
    },
    'trajectory_annotator_node': {},
    'joint_force_relay_node': {},
    'differential_drive_node': {'publish_clock': True},
    'excitation_node': {},
    'monitor_node': {},
    'identification_node': {'effort_semantics': 'torque', 'effort_source': 'commands'},
}
UPDATED = {
    'payload_source': 'topic',
    'friction_source': 'online',
    'friction_file': 'package://robot_dynamics_ros/config/es5_friction.yaml',
}
LEARNING = {
    'gravity_compensated_by_hardware': False,
    'stale_state_policy': 'ramp_down',
    **UPDATED,
}
PARAMETERS['external_torque_node'] = {'effort_semantics': 'torque', **UPDATED}
PARAMETERS.update(
    {f'{name}_node': LEARNING for name in ('inverse_dynamics', 'gravity_compensation')}
)
MOTION = """joint_names: [joint_1]
points:
- {positions: [0.0], velocities: [0.0], time_from_start: {sec: 0, nanosec: 0}}
- {positions: [0.1], velocities: [0.0], time_from_start: {sec: 1, nanosec: 0}}
"""


def documented(node: str) -> set[tuple[str, str, str]]:
    """Return direction, topic and type of every row of the node's table."""
    section = re.split(r'^## ', PAGE.read_text(encoding='utf-8'), flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(node)]
    rows = re.findall(r'^\| (in|out) \| `(.*?)` \| (\w+)/(\w+) \|', text, re.MULTILINE)
    found = set()
    for way, topic, package, kind in rows:
        gaps = {'TERM': TERMS, 'JOINT': JOINTS, 'LINK': LINKS}
        gap = next((gap for gap in gaps if gap in topic), '')
        for term in gaps.get(gap, ('',)):
            name = (topic.replace(gap, term) if gap else topic).replace('~', f'/{node}')
            name = name if name.startswith('/') else f'/{name}'
            found.add((way, name, f'{package}/msg/{kind}'))
    return found


@pytest.mark.parametrize('name', NODE_PARAMETERS)
def test_topics_are_those_of_the_documentation(graph: Graph, name: str, tmp_path: Path) -> None:
    module = importlib.import_module(f'robot_dynamics_ros.nodes.{name}')
    (cls,) = [value for key, value in vars(module).items() if key.lower() == name.replace('_', '')]
    parameters = PARAMETERS.get(
        name, {'gravity_compensated_by_hardware': False, 'stale_state_policy': 'ramp_down'}
    )
    if issubclass(cls, RobotNode):
        parameters = {
            'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
            'crosscheck': False,
            **parameters,
        }
    if name == 'excitation_node':
        (tmp_path / 'motion.yaml').write_text(MOTION)
        parameters = {'trajectory_file': str(tmp_path / 'motion.yaml')}
    node = graph.add(cls, autostart=True, **parameters)
    assert graph.spin_until(lambda: node.is_configured)
    found = set()
    for way, entities in (('in', node.subscriptions), ('out', node.publishers)):
        for entity in entities:
            topic = entity.topic_name
            if topic in FOREIGN or topic.endswith('transition_event'):
                continue
            kind = entity.msg_type
            found.add((way, topic, f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'))
    assert found == documented(name)


def test_no_node_overwrites_what_rclpy_keeps(graph: Graph) -> None:
    """A name such as `_clock` or `_services` taken for something else breaks rclpy silently."""
    kept = {*vars(LifecycleNode('plain')), *dir(LifecycleNode)}
    root = Path(__file__).resolve().parents[2] / 'robot_dynamics_ros'
    wrong = []
    for path in [*root.glob('nodes/*.py'), *root.glob('ros/*_node.py'), root / 'ros/lifecycle.py']:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == 'self'
                and node.attr in kept
            ):
                wrong.append(f'{path.name}:{node.lineno} {node.attr}')
    assert not wrong

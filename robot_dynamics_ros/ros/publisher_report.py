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

"""Who else publishes on the topics of a node: two commands on one robot are a fault in wiring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rclpy.node import Node

from robot_dynamics_ros.ros.diagnostics import Level, Report

WATCHDOG = 'effort_watchdog_node'
"""Name of the node that may command in place of another of its namespace, but not beside it."""

_UNNAMED = '_UNKNOWN_'
"""In the name that ROS gives to nodes whose name it has not discovered yet."""

_NAMED = 5
"""How many nodes are named."""


class PublisherReport:
    """
    Report unexpected publishers, and log when they come.

    Parameters
    ----------
    node : Node
        Node whose topics are looked at.
    commands : str
        Topic on which only the node itself, and a watchdog, should publish.
    states : str
        Topic on which one node should publish.
    is_contested : callable
        Returns whether somebody else commands while the node does.

    """

    def __init__(
        self, node: Node, commands: str, states: str, is_contested: Callable[[], bool]
    ) -> None:
        self._node = node
        self._commands = node.resolve_topic_name(commands)
        self._states = node.resolve_topic_name(states)
        self._is_contested = is_contested
        self._unnamed: set[str] = set()  # topics that had a publisher without name
        self._message = ''

    def __call__(self) -> Report:
        """Return the report."""
        rivals = self._rivals()
        sources = self._publishers(self._states, fewest=2)
        said = []
        if rivals:
            said.append(f'{self._commands} is also commanded by {_listed(rivals)}')
        if len(sources) > 1:
            said.append(f'{self._states} comes from {_listed(sources)}')
        message = '; '.join(said)
        if message and message != self._message:
            self._node.get_logger().warning(message)
        self._message = message
        values = {
            f'publishers of {topic}': self._node.count_publishers(topic)
            for topic in (self._commands, self._states)
        }
        return Report(Level.WARN if message else Level.OK, message or 'as expected', values)

    def _rivals(self) -> list[str]:
        own = self._node.get_fully_qualified_name()
        watchdog = f'{self._node.get_namespace().rstrip("/")}/{WATCHDOG}'
        names = [name for name in self._publishers(self._commands, fewest=2) if name != own]
        strangers = [name for name in names if name != watchdog]
        # Whose commands they are nobody can hear: the watchdog's only if there is no one else.
        return strangers if strangers or not self._is_contested() else names

    def _publishers(self, topic: str, fewest: int) -> list[str]:
        """Return the nodes that publish on a topic, if there are at least so many publishers."""
        if self._node.count_publishers(topic) < fewest:
            return []
        names = _publisher_names(self._node, topic)
        named = [name for name in names if _UNNAMED not in name]
        if len(named) == len(names):
            self._unnamed.discard(topic)
        elif topic not in self._unnamed:  # its name is still on the way
            self._unnamed.add(topic)
            return named
        return names


def publishers_of(node: Node, topic: str) -> str:
    """Return who publishes on a topic, the first few by name."""
    return _listed(_publisher_names(node, topic))


def _publisher_names(node: Node, topic: str) -> list[str]:
    return sorted(
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    )


def _listed(names: list[str]) -> str:
    """Return the names, each once with the number of its publishers, the first few in full."""
    counts = Counter(names)
    said = [f'{name} ({n} times)' if n > 1 else name for name, n in counts.items()]
    rest = len(said) - _NAMED
    return ', '.join(said[:_NAMED]) + (f' and {rest} more' if rest > 0 else '')

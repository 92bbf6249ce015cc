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
What a launch file declares and starts, found by building it without ROS 2's launch.

The classes of `launch` and `launch_ros` are replaced by ones that only remember what they were
made of. So conditions, helpers and handlers are seen as they are put together, not as text.

"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
import importlib.util
from pathlib import Path
import sys
from types import ModuleType
from typing import Any

import robot_dynamics_ros

MODULES = (
    'launch',
    'launch.actions',
    'launch.conditions',
    'launch.event_handlers',
    'launch.launch_description_sources',
    'launch.substitutions',
    'launch_ros',
    'launch_ros.actions',
    'launch_ros.event_handlers',
    'launch_ros.parameter_descriptions',
    'launch_ros.substitutions',
)
HELPERS = 'robot_dynamics_ros.launching'


class Recorded:
    """Anything of launch: what it was made of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs

    @property
    def kind(self) -> str:
        return type(self).__name__


class Given:
    """A context of launch in which every argument was given, and is true."""

    def __init__(self) -> None:
        self.launch_configurations = self
        self.asked: set[str] = set()

    def get(self, name: str) -> str:
        self.asked.add(name)
        return 'true'


def stand_in(name: str) -> ModuleType:
    """Return a module that has every class one asks it for."""
    module = ModuleType(name)
    known: dict[str, type] = {}

    def attribute(key: str) -> type:
        if key.startswith('__'):
            raise AttributeError(key)
        return known.setdefault(key, type(key, (Recorded,), {}))

    module.__getattr__ = attribute  # type: ignore[method-assign]
    return module


def built(path: Path) -> Recorded:
    """Return the launch description of a file."""
    names = (*MODULES, HELPERS)
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.modules.update({name: stand_in(name) for name in MODULES})
    forget_helpers()
    try:
        spec = importlib.util.spec_from_file_location(path.name.replace('.', '_'), path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        description: Recorded = module.generate_launch_description()
        return description
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update({name: old for name, old in before.items() if old is not None})
        forget_helpers()
        if before[HELPERS] is not None:
            setattr(robot_dynamics_ros, HELPERS.rpartition('.')[2], before[HELPERS])


def forget_helpers() -> None:
    """Make the next import of the helpers a new one."""
    vars(robot_dynamics_ros).pop(HELPERS.rpartition('.')[2], None)


def walk(thing: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yield everything that a description is made of, what handlers would return too."""
    seen = set() if seen is None else seen
    yield thing
    if isinstance(thing, (str, type)) or id(thing) in seen:
        return
    parts: list[Any] = []
    if isinstance(thing, Recorded):
        seen.add(id(thing))
        parts = [*thing.args, *thing.kwargs.values()]
        if thing.kind == 'OpaqueFunction':
            given = Given()
            parts += [thing.kwargs['function'](given), given]
    elif isinstance(thing, Mapping):
        parts = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, ItemsView)):
        parts = list(thing)
    elif isinstance(thing, Callable):  # type: ignore[arg-type]
        parts = [cell.cell_contents for cell in getattr(thing, '__closure__', None) or ()]
    for part in parts:
        yield from walk(part, seen)


def of_kind(description: Any, *kinds: str) -> list[Recorded]:
    """Return the objects of some classes in a description, each once."""
    found = {id(each): each for each in walk(description) if isinstance(each, Recorded)}
    return [each for each in found.values() if each.kind in kinds]


def declared(description: Recorded) -> dict[str, dict[str, Any]]:
    """Return the arguments with what is said about each."""
    return {each.args[0]: each.kwargs for each in of_kind(description, 'DeclareLaunchArgument')}


def used(description: Recorded) -> set[str]:
    """Return the arguments that something depends on."""
    found = {each.args[0] for each in of_kind(description, 'LaunchConfiguration')}
    return found.union(*(each.asked for each in walk(description) if isinstance(each, Given)))


def spelled_out(text: Any, arguments: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return every text that constants and the choices of arguments make, in any form."""
    if isinstance(text, (list, tuple)):
        found = ['']
        for part in text:
            found = [a + b for a in found for b in spelled_out(part, arguments)]
        return found
    if isinstance(text, Recorded):
        assert text.kind == 'LaunchConfiguration', text.kind
        said = arguments[text.args[0]]
        return list(said.get('choices') or spelled_out(said.get('default_value', ''), arguments))
    return [str(text)]

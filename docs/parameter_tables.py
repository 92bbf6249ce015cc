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

"""Write the tables of parameters into docs/nodes.md; run it after changing a parameter."""

from __future__ import annotations

from pathlib import Path
import re
import sys
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS  # noqa: E402
from robot_dynamics_ros.ros.parameters import ParameterSpec, specs_of  # noqa: E402
from robot_dynamics_ros.ros.robot_parameters import (  # noqa: E402
    CommandParameters,
    RobotParameters,
    TorqueParameters,
)

PAGE = ROOT / 'docs' / 'nodes.md'
BLOCK = re.compile(r'(<!-- parameters: (.*?) -->\n).*?(<!-- end -->)', re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with the tables of today between its marks."""
    return BLOCK.sub(lambda found: f'{found[1]}{table(specs(found[2]))}{found[3]}', page)


def specs(name: str) -> list[ParameterSpec]:
    """Return the parameters under a name: a node's own ones, or those that nodes share."""
    if name == 'all nodes':
        return list(specs_of(RobotParameters).values())
    if name == 'torque nodes':
        return _without(TorqueParameters, RobotParameters)
    if name == 'commanding nodes':
        return _without(CommandParameters, TorqueParameters)
    cls = NODE_PARAMETERS[name]
    if not issubclass(cls, RobotParameters):
        return list(specs_of(cls).values())
    shared = (CommandParameters, TorqueParameters, RobotParameters)
    return _without(cls, next(each for each in shared if issubclass(cls, each)))


def _without(cls: type, shared: type) -> list[ParameterSpec]:
    known = specs_of(shared)
    return [spec for key, spec in specs_of(cls).items() if known.get(key) != spec]


def table(specs: list[ParameterSpec]) -> str:
    """Return the parameters as a table."""
    rows = ['| parameter | type | default |  |', '|---|---|---|---|']
    for spec in specs:
        note = ' '.join([spec.text, *_limits(spec)]).replace('|', '\\|')
        rows.append(f'| `{spec.name}` | {spec.type_name} | {_default(spec)} | {note} |')
    return '\n'.join([*rows, ''])


def _limits(spec: ParameterSpec) -> list[str]:
    parts = [f'[{spec.unit}]'] if spec.unit else []
    if spec.choices:
        parts.append('One of ' + ', '.join(f'`{choice}`' for choice in spec.choices) + '.')
    elif spec.low > float('-inf') or spec.high < float('inf'):
        parts.append(f'Range: {spec.range_text()}.')
    return [*parts, 'Live.'] if spec.is_live else parts


def _default(spec: ParameterSpec) -> str:
    return '**none: say it**' if spec.is_required else f'`{_yaml(spec.default)}`'


def _yaml(value: Any) -> str:
    if isinstance(value, tuple):
        return '[' + ', '.join(_yaml(entry) for entry in value) + ']'
    if isinstance(value, bool):
        return str(value).lower()
    return "''" if value == '' else str(value)


if __name__ == '__main__':
    PAGE.write_text(with_tables(PAGE.read_text(encoding='utf-8')), encoding='utf-8')

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

"""docs/nodes.md against the code."""

import importlib.util
from pathlib import Path
import re

from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'nodes.md').read_text(encoding='utf-8')


def test_tables_of_parameters_are_those_of_the_code() -> None:
    spec = importlib.util.spec_from_file_location('tables', ROOT / 'docs' / 'parameter_tables.py')
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert tables.with_tables(PAGE) == PAGE, 'run `python docs/parameter_tables.py`'
    assert set(re.findall('<!-- parameters: (.*?) -->', PAGE)) == {
        *NODE_PARAMETERS,
        'torque nodes',
        'commanding nodes',
        'all nodes',
    }


def test_every_node_has_a_section() -> None:
    assert re.findall(r'^## (\w+_node)$', PAGE, re.MULTILINE) == list(NODE_PARAMETERS)

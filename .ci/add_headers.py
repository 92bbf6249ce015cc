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

"""Put the licence header, in the form that ament_copyright accepts, before every source file."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ('robot_dynamics_ros', 'test', 'launch', 'benchmark', 'requirements', 'docs', '.ci')

HEADER = """\
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


def add_header(path: Path) -> bool:
    """Add the header after a shebang line; return whether it was missing."""
    text = path.read_text(encoding='utf-8')
    shebang, rest = '', text
    if text.startswith('#!'):
        shebang, _, rest = text.partition('\n')
        shebang += '\n'
    if rest.startswith('# Copyright'):
        return False
    body = f'\n{rest}' if rest else ''
    path.write_text(f'{shebang}{HEADER}{body}', encoding='utf-8')
    return True


if __name__ == '__main__':
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob('*.py'))]
    for file in [ROOT / 'setup.py', *found]:
        if add_header(file):
            print(file.relative_to(ROOT))

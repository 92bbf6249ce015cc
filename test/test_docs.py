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

"""Whether the pages say what is there: links, anchors, names and the texts of log messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
import re

import pytest

from launch_contents import built, declared
from package_files import PACKAGE, ROOT, source_files
from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from robot_dynamics_ros.ros.parameters import specs_of

PAGES = sorted([*ROOT.glob('*.md'), *(ROOT / 'docs').glob('*.md')])
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
TROUBLE = ROOT / 'docs' / 'troubleshooting.md'

BLOCK = re.compile(r'^```[\s\S]*?^```$|(?<=\n)\n(?: {4,}\S.*\n)+', re.MULTILINE)
SPAN = re.compile(r'`([^`]+)`')
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
ARGUMENT = re.compile(r'(?<![\w.])([a-z]\w*):=')

FOREIGN = {
    'cmd_force',
    'gz_ros2_control',
    'hold_joints',
    'interface_name',
    'joint_state_publisher',
    'joint_trajectory_controller',
    'k_velocity',
    'time_from_start',
}
"""Names of other packages that the pages mention and this one does not use."""

WORDS = {'activate', 'before', 'configure', 'deactivated', 'effort', 'es5'}
"""What a message of this package may have in its gaps, beside names, numbers and enumerations."""


def parameters_of(node: str) -> set[str]:
    return {spec.name for spec in specs_of(NODE_PARAMETERS[node]).values()}


PARAMETERS = {'use_sim_time'}.union(*map(parameters_of, NODE_PARAMETERS))


def blocks(page: Path) -> list[str]:
    """Return the code blocks, with continued lines joined."""
    found = BLOCK.findall(page.read_text(encoding='utf-8'))
    return [block.replace('\\\n', ' ') for block in found]


def prose(page: Path) -> str:
    """Return the page without its code blocks."""
    return BLOCK.sub('\n\n', page.read_text(encoding='utf-8'))


def spans(page: Path) -> list[str]:
    """Return the code inside of lines."""
    return [' '.join(span.split()) for span in SPAN.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r'^#+ (.*)$', prose(page), re.MULTILINE):
        text = re.sub(r'[^\w\- ]', '', SPAN.sub(r'\1', heading).lower())
        slug = text.replace(' ', '-')
        same = [each for each in found if re.fullmatch(rf'{re.escape(slug)}(-\d+)?', each)]
        found.add(f'{slug}-{len(same)}' if same else slug)
    return found


@cache
def constants() -> tuple[str, ...]:
    """Return the texts in the code, with the gaps of f-strings as a null character."""
    found: set[str] = set()
    for path in source_files(PACKAGE, 'launch'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.add(
                    ''.join(
                        str(part.value) if isinstance(part, ast.Constant) else '\0'
                        for part in node.values
                    )
                )
    return tuple(sorted(found, key=len, reverse=True))


@cache
def enumerated() -> frozenset[str]:
    """Return the values of enumerations in the code."""
    return frozenset(
        value.value
        for path in source_files(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.ClassDef)
        and any('Enum' in ast.unparse(base) for base in node.bases)
        for assignment in node.body
        if isinstance(assignment, ast.Assign) and isinstance(assignment.value, ast.Constant)
        for value in [assignment.value]
        if isinstance(value.value, str)
    )


@cache
def source_words() -> frozenset[str]:
    """Return every word in code, configuration and descriptions."""
    paths = [
        *source_files(PACKAGE, 'launch'),
        *(path for name in ('config', 'urdf', 'worlds') for path in (ROOT / name).rglob('*.*')),
        ROOT / 'package.xml',
    ]
    text = '\n'.join(path.read_text(encoding='utf-8') for path in paths if path.is_file())
    return frozenset(re.findall(r'\w+', text))


def arguments_of(launch_file: Path) -> set[str]:
    return set(declared(built(launch_file)))


def xacro_arguments() -> set[str]:
    texts = (path.read_text(encoding='utf-8') for path in (ROOT / 'urdf').glob('*.xacro'))
    return {name for text in texts for name in re.findall(r'<xacro:arg name="(\w+)"', text)}


def is_private_name(name: str) -> bool:
    """Return whether a node has a topic or service with this name; capitals stand for any."""
    for text in constants():
        if text.startswith('~/'):
            pattern = re.escape(text).replace('\0', r'\w+')
            if re.fullmatch(pattern, name):
                return True
    return False


def is_said(text: str) -> bool:
    """Return whether the code makes this text: nothing remains but names, numbers and such."""
    rest = re.sub(r'(?<!\w)/\w[\w/]*', 'TOPIC', text)
    for template in constants():
        parts = [part.strip() for part in template.split('\0')]
        letters = sum(map(str.isalpha, ''.join(parts)))
        if letters < 4 or (' ' not in template and template not in enumerated()):
            continue
        if not all(part in rest for part in parts):
            continue
        pattern = r'(.+?)'.join(re.escape(part) for part in parts).replace(r'\ ', ' ')
        start, end = (r'\b' if edge.isalnum() else '' for edge in (template[0], template[-1]))
        match = re.search(f'{start}{pattern}{end}', rest)
        if match:
            rest = f'{rest[: match.start()]} {" ".join(match.groups())} {rest[match.end() :]}'
    left = {word for word in re.findall(r'(?<![\w.])[A-Za-z_]\w+', rest) if not word.isupper()}
    return not left - WORDS - PARAMETERS - enumerated()


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for target in LINK.findall(SPAN.sub('', prose(page))):
        if re.match(r'[a-z]+:', target):
            continue
        name, _, anchor = target.partition('#')
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            dead.append(target)
    assert not dead


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_private_names_are_those_of_nodes(page: Path) -> None:
    named = {span for span in spans(page) if span.startswith('~/')}
    for block in blocks(page):
        named.update(f'~/{name}' for name in re.findall(r' /\w+_node/([a-z_/]+)', block))
    assert not {name for name in named if not is_private_name(name)}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_arguments_are_those_of_launch_files(page: Path) -> None:
    known = xacro_arguments().union(*map(arguments_of, LAUNCH_FILES))
    named = {name for span in [*spans(page), *blocks(page)] for name in ARGUMENT.findall(span)}
    assert not named - known
    for block in blocks(page):
        for command in re.findall(r'ros2 launch \S+ .*', block):
            words = command.split()
            assert words[2] == PACKAGE
            if words[3].endswith('.launch.py'):
                path = ROOT / 'launch' / words[3]
                assert set(ARGUMENT.findall(command)) <= arguments_of(path), command


def test_each_page_on_launch_files_lists_their_arguments() -> None:
    text = (ROOT / 'docs' / 'launch.md').read_text(encoding='utf-8')
    for path in LAUNCH_FILES:
        section = text.partition(f'\n## {path.name}\n')[2].partition('\n## ')[0]
        listed = set(re.findall(r'`(\w+)`', section.rpartition('Arguments: ')[2]))
        assert arguments_of(path) <= listed, path.name


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_parameters_are_those_of_nodes(page: Path) -> None:
    assigned = {
        match[1]
        for span in spans(page)
        if (match := re.fullmatch(r'([a-z][\w.]*): \S+', span)) and match[1] not in enumerated()
    }
    assert not assigned - PARAMETERS - FOREIGN
    for command in [*spans(page), *blocks(page)]:
        for node, name in re.findall(r'ros2 param set /(\w+) (\S+)', command):
            spec = {spec.name: spec for spec in specs_of(NODE_PARAMETERS[node]).values()}[name]
            assert spec.is_live, command


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_names_occur_in_the_source(page: Path) -> None:
    named = {span for span in spans(page) if re.fullmatch(r'[a-z0-9]+(_[a-z0-9]+)+', span)}
    dotted = {span for span in spans(page) if re.fullmatch(r'(payload|realtime)\.[a-z_]+', span)}
    known = source_words() | FOREIGN | {path.stem for path in source_files('test')}
    assert not named - known
    assert not dotted - PARAMETERS


def quoted_messages() -> Iterator[str]:
    """Yield what the pages say that nodes say."""
    text = TROUBLE.read_text(encoding='utf-8')
    for says in re.findall(r'^- Says: (.*?)(?=^- |\Z)', text, re.DOTALL | re.MULTILINE):
        yield from SPAN.findall(says)
    yield from re.findall(r'^\| `([^`]+)` \|', text, re.MULTILINE)
    for page in PAGES:
        yield from re.findall(r'\bsays?\s+`([^`]+)`', prose(page))


def test_messages_are_those_of_the_code() -> None:
    messages = [' '.join(message.split()) for message in quoted_messages()]
    assert len(messages) > 80
    wrong = [
        message
        for message in messages
        if message not in constants()
        and not message.startswith(('ros2 ', 'robot_dynamics '))
        and not (message.startswith('~/') and is_private_name(message))
        and message not in {*PARAMETERS, '/clock', 'payload'}
        and not is_said(message)
    ]
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('ramping_down: joint state is 0.105 s old', True),
        ('ramping_down: joint state has been lost', False),
        ('taking over: no command for 0.2 s', True),
        ('JOINT flies with 5 rad/s or m/s, allowed are 4', False),
    ],
)
def test_messages_are_told_from_others(text: str, expected: bool) -> None:
    assert is_said(text) is expected

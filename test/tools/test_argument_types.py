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

"""Numbers on the command line: what is none, or out of range, ends with the usage and code 2."""

from __future__ import annotations

import argparse

import pytest

from robot_dynamics_ros.tools.argument_types import (
    finite,
    number_between,
    whole_number_between,
)
from robot_dynamics_ros.tools.cli import main

CROSSCHECK = ['crosscheck', 'arm.urdf']
REPLAY = ['replay', 'log', '--urdf', 'arm.urdf', '--output', 'out']
ANNOTATE = ['annotate', 'points.yaml', '--urdf', 'arm.urdf', '--output', 'out.yaml']
NUMERIC = [
    (['demo'], '--rate', 1, ['40', '6000', '']),
    (['demo'], '--domain', 1, ['-1', '102', '1.5', '']),
    (CROSSCHECK, '--samples', 1, ['0', '-1', '1.5', '']),
    (CROSSCHECK, '--seed', 1, ['-1', '1.5', '']),
    (REPLAY, '--since', 1, ['']),
    (REPLAY, '--cutoff', 1, ['-1', '']),
    (REPLAY, '--payload', 4, ['']),
    (REPLAY, '--gravity', 3, ['']),
    (ANNOTATE, '--gravity', 3, ['']),
]
"""Command, its option, how many numbers it takes, and what this one in particular does not."""


@pytest.mark.parametrize(
    ('command', 'option', 'count', 'text'),
    [
        (command, option, count, text)
        for command, option, count, others in NUMERIC
        for text in ('nan', 'inf', 'NaN', 'infinity', '1e999', 'abc', *others)
    ],
)
def test_what_is_no_number_in_range_is_refused_with_the_usage(
    capsys: pytest.CaptureFixture[str], command: list[str], option: str, count: int, text: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, option, *['1'] * (count - 1), text])
    assert ended.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"argument {option}: '{text}' is not " in last


def test_numbers_in_range_are_taken() -> None:
    assert [finite(text) for text in ('1', '-2.5', '1e-3')] == [1.0, -2.5, 1e-3]
    assert number_between(0.0, 5.0, 'Hz')('5') == 5.0
    assert whole_number_between(0, 101)('101') == 101
    # Beyond 2^53, where a float would no longer be the same number.
    assert whole_number_between(1)('9007199254740993') == 9007199254740993


def test_refusal_tells_the_range() -> None:
    for kind, text, message in (
        (number_between(50.0, 5000.0, 'Hz'), '10', "'10' is not between 50 and 5000 Hz"),
        (number_between(0.0, float('inf'), 'Hz'), '-1', "'-1' is not 0 or more Hz"),
        (whole_number_between(1), '0', "'0' is not a whole number, 1 or more"),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match=message):
            kind(text)

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

from __future__ import annotations

from robot_dynamics_ros.report.table import format_number, format_percent, format_table


def test_numbers_stand_right_and_text_left() -> None:
    text = format_table(
        ['joint', 'n', 'value', 'given'],
        [['shoulder', 7, 1.23456, '+1.0'], ['a', 1234, None, '-12.0']],
        title='Title',
        right=['given'],
    )
    assert text.splitlines() == [
        'Title',
        'joint        n  value  given',
        '--------  ----  -----  -----',
        'shoulder     7  1.235   +1.0',
        'a         1234      -  -12.0',
    ]


def test_table_without_rows_is_its_head() -> None:
    assert format_table(['a', 'bb'], []).splitlines() == ['a  bb', '-  --']


def test_numbers_are_short_but_not_wrong() -> None:
    shown = [format_number(value) for value in (123456.7, 1e12, float('nan'), float('inf'), -0.5)]
    assert shown == ['123457', '1.000e+12', 'nan', 'inf', '-0.5']
    assert format_number(True) == 'True'
    shown = [format_percent(value) for value in (0.127, 16.6, None, float('nan'))]
    assert shown == ['12.7 %', '1660 %', '-', '-']

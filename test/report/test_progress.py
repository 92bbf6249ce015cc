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

import io

from robot_dynamics_ros.report.progress import Progress


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_short_work_shows_nothing() -> None:
    for stream in (Terminal(), io.StringIO()):
        with Progress('reading', 10, stream=stream) as progress:
            assert list(progress.over(range(10))) == list(range(10))
        assert stream.getvalue() == ''


def test_terminal_line_is_redrawn_and_cleared() -> None:
    stream = Terminal()
    with Progress('reading', 4, stream=stream, delay=0.0) as progress:
        progress.advance(2)
    assert 'reading [############............]  50 %' in stream.getvalue()
    assert '\n' not in stream.getvalue()
    assert stream.getvalue().endswith('\r\x1b[2K')


def test_unknown_total_counts() -> None:
    stream = Terminal()
    with Progress('reading', stream=stream, delay=0.0) as progress:
        progress.advance(1000)
    assert 'reading 1000' in stream.getvalue()

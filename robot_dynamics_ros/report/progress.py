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

"""One progress line on standard error: redrawn on a terminal, sparse plain lines in a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import sys
import time
from types import TracebackType
from typing import TextIO, TypeVar

T = TypeVar('T')


class Progress:
    """
    Show how far long work has come.

    Nothing is shown for work that ends within `delay`, so that short runs stay quiet.

    Parameters
    ----------
    label : str
        What is going on, as in ``'reading'``.
    total : int, optional
        Number of steps, if known.
    stream : text file, optional
        Where to write; standard error by default.
    delay : float
        Time before the first line [s].

    """

    def __init__(
        self,
        label: str,
        total: int | None = None,
        *,
        stream: TextIO | None = None,
        delay: float = 0.5,
    ) -> None:
        self._label = label
        self._total = total if total else None
        self._stream = stream if stream is not None else sys.stderr
        self._is_terminal = self._stream.isatty()
        self._period = 0.1 if self._is_terminal else 10.0
        self._started = time.monotonic()
        self._next = self._started + (delay if self._is_terminal else max(delay, self._period))
        self._done = 0
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._is_terminal:
            self._stream.write('\r\x1b[2K')
            self._stream.flush()

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done, and redraw when it is time."""
        self._done += steps
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._period
            self._show(now - self._started)

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Pass items on, counting them."""
        for item in items:
            yield item
            self.advance()

    def _show(self, elapsed: float) -> None:
        if self._total:
            fraction = min(1.0, self._done / self._total)
            bar = ('#' * int(24 * fraction)).ljust(24, '.')
            text = f'{self._label} [{bar}] {100.0 * fraction:3.0f} %'
            if fraction > 0.01:
                text += f'  {elapsed * (1.0 - fraction) / fraction:.0f} s left'
        else:
            text = f'{self._label} {self._done}  {elapsed:.0f} s'
        self._stream.write(f'\r\x1b[2K{text}' if self._is_terminal else f'{text}\n')
        self._stream.flush()
        self._shown = True

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
Expanding xacro files with arguments.

A xacro file is a program: it includes files and evaluates expressions. Use those that you would
also run. Each text that xacro reads, included files too, passes the same gate as a URDF: no
DOCTYPE, bounded size and depth.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import contextlib
import io
import re
import threading
from typing import Any

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.finding_codes import one_line, refusal
from robot_dynamics_ros.core.model.urdf_gate import parse_xml, XmlElement
from robot_dynamics_ros.core.model.urdf_source import read_source, UrdfSource

_LOCK = threading.Lock()
"""xacro keeps its state in module variables."""


def is_xacro(source: UrdfSource, root: XmlElement) -> bool:
    """Return whether to expand the source: its file's name or an element of xacro says so."""
    if source.path is not None and source.path.suffix == '.xacro':
        return True
    return any(element.tag.startswith('xacro:') for element in root.walk())


def expand_xacro(source: UrdfSource, arguments: Mapping[str, Any] | None = None) -> str:
    """
    Return the URDF text that xacro makes of a source.

    Parameters
    ----------
    source : UrdfSource
        Text with elements of xacro; includes are searched relative to its file.
    arguments : mapping of str to object, optional
        Values for ``<xacro:arg>``; True and False become ``true`` and ``false``.

    Raises
    ------
    UrdfError
        In one line: if xacro fails, a file does not pass the gate, or an argument is declared
        nowhere.

    """
    import xacro

    mappings = {key: _as_text(value) for key, value in (arguments or {}).items()}
    declared: set[str] = set()
    with _LOCK, _guarded(xacro, declared):
        try:
            xacro.init_stacks(str(source.path) if source.path else None)
            document = xacro.parse(source.text)
            xacro.process_doc(document, mappings=mappings, verbosity=0)
            text = document.documentElement.toxml()
        except UrdfError:
            raise
        except Exception as error:  # xacro lets through whatever an expression raises
            where = _innermost_file(xacro, source)
            raise refusal(
                'xacro_failed', source.name, f'xacro: {_reason(error)}{where}'
            ) from error
    unknown = sorted(set(mappings) - declared)
    if unknown:
        choices = ', '.join(sorted(declared)) or 'none'
        message = f"xacro argument '{unknown[0]}' is not declared; the file has: {choices}"
        raise refusal('xacro_failed', source.name, message)
    return str(text)


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reason(error: Exception) -> str:
    """Return what xacro says, without its repetitions and class names in angle brackets."""
    text = re.sub(r"<class '([^']*)'>", r'\1', one_line(error, 400))
    cause = one_line(getattr(error, 'exc', None) or '')
    if cause and text.count(cause) > 1:
        text = text[: text.index(cause) + len(cause)]
    return one_line(text) or type(error).__name__


def _innermost_file(xacro: Any, source: UrdfSource) -> str:
    files = [name for name in (getattr(xacro, 'filestack', None) or []) if name]
    if files and str(files[-1]) != source.name:
        return f' (in {one_line(files[-1])})'
    return ''


@contextlib.contextmanager
def _guarded(xacro: Any, declared: set[str]) -> Iterator[None]:
    """Put the gate in front of xacro's parser, note the declared arguments, keep it quiet."""
    original: Callable[..., Any] = xacro.parse

    def parse(text: Any, filename: str | None = None) -> Any:
        if text is None:
            try:
                text = read_source(_AsPath(str(filename))).text
            except UrdfError as error:
                if not _is_missing(error):
                    raise
                return original(
                    None, filename
                )  # raises what <xacro:include optional="true"> catches
        root = parse_xml(text, filename or 'xacro')
        declared.update(
            element.attributes.get('name', '')
            for element in root.walk()
            if element.tag == 'xacro:arg'
        )
        return original(text.lstrip('\ufeff \t\r\n').encode('utf-8').decode('utf-8'))

    xacro.parse = parse
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        xacro.parse = original


class _AsPath:
    """A file name as a path object, so that no name is ever taken for XML text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name


def _is_missing(error: UrdfError) -> bool:
    return any(getattr(item, 'code', '') == 'source_missing' for item in error.findings)

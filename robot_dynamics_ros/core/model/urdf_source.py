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
From what the user gives (path, text or bytes) to one decoded text.

Nothing is parsed here. A file is read only when it is a regular file below the cap on size.

"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
import os
from pathlib import Path
import re

from robot_dynamics_ros.core.model.description import Finding
from robot_dynamics_ros.core.model.finding_codes import finding, one_line, refusal

MAX_BYTES = 10_000_000
"""Largest source [bytes]; the largest public URDF that we know has 222 kB."""

_BLANK = '\ufeff \t\r\n'
_DECLARED_ENCODING = re.compile(
    rb'<\?xml[^>]{0,200}?encoding\s*=\s*["\']([A-Za-z0-9._-]{1,40})["\']'
)
_NOT_FOR_FILES = {'punycode', 'idna', 'unicode-escape', 'raw-unicode-escape', 'utf-7', 'undefined'}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, 'utf-8'),
    (codecs.BOM_UTF32_LE, 'utf-32-le'),
    (codecs.BOM_UTF32_BE, 'utf-32-be'),
    (codecs.BOM_UTF16_LE, 'utf-16-le'),
    (codecs.BOM_UTF16_BE, 'utf-16-be'),
)


@dataclass(frozen=True)
class UrdfSource:
    """
    The text of a robot description and where it came from.

    Attributes
    ----------
    text : str
        The decoded text, line ends as they were, without a byte order mark.
    name : str
        The path, or ``text``; for messages.
    path : Path or None
        The file it was read from.
    encoding : str
        Encoding of the bytes.
    byte_order_mark : bytes
        The mark in front of them, often empty.
    findings : tuple of Finding

    """

    text: str
    name: str
    path: Path | None = None
    encoding: str = 'utf-8'
    byte_order_mark: bytes = b''
    findings: tuple[Finding, ...] = ()


def read_source(source: str | bytes | os.PathLike[str]) -> UrdfSource:
    """
    Return the text behind a path, an XML text or XML bytes.

    A ``str`` whose first visible character is ``<`` is XML text, any other ``str`` is a path.
    ``bytes`` are XML. An encoding that an XML text declares is of no meaning once it is a ``str``
    and is not looked at.

    Parameters
    ----------
    source : str, bytes or path-like
        The robot description.

    Raises
    ------
    UrdfError
        If there is nothing to read, it is too large, or the bytes do not fit their encoding.

    """
    if isinstance(source, (bytes, bytearray)):
        return _decoded(bytes(source), 'text', None)
    if isinstance(source, str):
        if source.lstrip(_BLANK).startswith('<'):
            return _checked_text(source)
        if not source.strip(_BLANK):
            raise refusal('source_empty', 'text', 'the robot description is empty')
    elif not isinstance(source, os.PathLike):
        kind = type(source).__name__
        raise refusal('source_missing', 'text', f'expected a path, a text or bytes, got {kind}')
    return _read_file(os.fspath(source))


def _checked_text(text: str) -> UrdfSource:
    if len(text) > MAX_BYTES:
        raise _too_large('text', len(text))
    try:
        text.encode('utf-8')
    except UnicodeEncodeError as error:
        message = f'character {error.start} is half of a surrogate pair; decode the bytes first'
        raise refusal('encoding_wrong', 'text', message) from error
    mark = codecs.BOM_UTF8 if text.startswith('\ufeff') else b''
    return UrdfSource(text[1:] if mark else text, 'text', byte_order_mark=mark)


def _read_file(name: str) -> UrdfSource:
    shown = one_line(name, 120)
    if '://' in name[:20]:
        raise refusal('source_missing', shown, 'is a URL; give the path of the file instead')
    path = Path(name)
    try:
        if not path.is_file():
            if path.exists():
                raise refusal('source_missing', shown, 'is not a regular file')
            message = "is not XML (it does not start with '<') and no such file exists"
            raise refusal('source_missing', shown, message)
        with path.open('rb') as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise refusal('source_missing', shown, f'cannot be read: {one_line(reason)}') from error
    return _decoded(data, str(path), path)


def _too_large(name: str, size: int) -> Exception:
    message = f'is larger than the cap of {MAX_BYTES} bytes'
    return refusal('source_too_large', name, message, float(size))


def _decoded(data: bytes, name: str, path: Path | None) -> UrdfSource:
    if len(data) > MAX_BYTES:
        raise _too_large(name, len(data))
    if not data.strip():
        raise refusal('source_empty', name, 'the robot description is empty')
    encoding, mark = _encoding_of(data)
    findings: tuple[Finding, ...] = ()
    try:
        if codecs.lookup(encoding or 'utf-8').name.replace('_', '-') in _NOT_FOR_FILES:
            raise LookupError(encoding)
        text = data[len(mark) :].decode(encoding or 'utf-8')
    except LookupError as error:
        message = f"declares the encoding '{encoding}', which is not known"
        raise refusal('encoding_wrong', name, message) from error
    except UnicodeError as error:
        if encoding is not None:
            message = f'is not {encoding} as declared: {one_line(error)}'
            raise refusal('encoding_wrong', name, message) from error
        encoding, text = 'latin-1', data.decode('latin-1')
        message = f'is not UTF-8 and declares no encoding; read as Latin-1 ({one_line(error)})'
        findings = (finding('encoding_assumed', name, message),)
    if not text.lstrip(_BLANK).startswith('<'):
        start = one_line(text.strip(_BLANK), 40)
        raise refusal('source_missing', name, f"is not XML: it starts with '{start}', not '<'")
    return UrdfSource(text, name, path, encoding or 'utf-8', mark, findings)


def _encoding_of(data: bytes) -> tuple[str | None, bytes]:
    """Return the encoding, or None where nothing states one, and the byte order mark."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding, mark
    if data[:2] == b'<\0':
        return 'utf-16-le', b''
    if data[:2] == b'\0<':
        return 'utf-16-be', b''
    found = _DECLARED_ENCODING.match(data.lstrip(b' \t\r\n'))
    declared = found.group(1).decode('ascii') if found else None
    if declared and declared.lower().startswith(('utf-16', 'utf-32', 'ucs')):
        return None, b''  # cannot be true of a declaration that reads as single bytes
    return declared, b''

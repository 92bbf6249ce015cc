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

"""Compression of logs: messages and files packed by rosbag2, chunks packed by MCAP."""

from __future__ import annotations

from pathlib import Path
import sys
import tempfile
from typing import Any
import weakref

from robot_dynamics_ros.core.exceptions import BagError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
"""First bytes of a zstd frame; a serialized message begins with 00, so they cannot be confused."""

_BLOCK = 1 << 20


def decompress_message(data: bytes) -> bytes:
    """
    Return the message itself, whether it was compressed one by one or not.

    Raises
    ------
    BagError
        If the compressed bytes are damaged.

    """
    if data[:4] != ZSTD_MAGIC:
        return data
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError as err:
        raise BagError(f'a compressed message is damaged: {err}') from err


def decompress_file(source: Path, target: Path) -> bool:
    """
    Unpack a zstd file as far as it goes.

    Returns
    -------
    whole : bool
        False if the packed file ends too early or is damaged; `target` then holds what came
        before.

    """
    with source.open('rb') as packed, target.open('wb') as unpacked:
        decompressor = zstd.ZstdDecompressor()
        try:
            while block := packed.read(_BLOCK):
                unpacked.write(decompressor.decompress(block))
                if decompressor.eof:
                    if not decompressor.unused_data:
                        continue
                    rest = decompressor.unused_data
                    decompressor = zstd.ZstdDecompressor()
                    unpacked.write(decompressor.decompress(rest))
        except (zstd.ZstdError, EOFError):
            return False
        return bool(decompressor.eof)


class UnpackedFiles:
    """
    Whole files, unpacked once for as long as this object lives.

    Attributes
    ----------
    damaged : set of Path
        Packed files of which only a part could be unpacked.

    """

    def __init__(self) -> None:
        self.damaged: set[Path] = set()
        self._targets: dict[Path, Path] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def target(self, packed: Path) -> Path:
        """Return the unpacked form of a zstd file."""
        if packed not in self._targets:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory()
                weakref.finalize(self, self._folder.cleanup)
            target = Path(self._folder.name, str(len(self._targets)), packed.stem)
            target.parent.mkdir()
            if not decompress_file(packed, target):
                self.damaged.add(packed)
            self._targets[packed] = target
        return self._targets[packed]


def decompress_chunk(data: bytes, compression: str) -> bytes:
    """
    Unpack the records of an MCAP chunk as far as they go.

    Parameters
    ----------
    data : bytes
        Packed bytes, perhaps cut off.
    compression : str
        ``''``, ``'zstd'`` or ``'lz4'``.

    Raises
    ------
    BagError
        If the compression is another one.

    """
    if not compression:
        return data
    decompressor: Any
    if compression == 'zstd':
        decompressor = zstd.ZstdDecompressor()
    elif compression == 'lz4':
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

        decompressor = LZ4FrameDecompressor()
    else:
        raise BagError(f"MCAP chunk compression '{compression}' is not supported")
    parts: list[bytes] = []
    try:
        # Small pieces: what was unpacked before the damage is kept.
        for start in range(0, len(data), 4096):
            parts.append(decompressor.decompress(data[start : start + 4096]))
    except (zstd.ZstdError, RuntimeError, EOFError):
        pass
    return b''.join(parts)

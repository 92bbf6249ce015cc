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

"""Serialize ``sensor_msgs/msg/JointState``: the bytes of the names are made only once."""

from __future__ import annotations

from collections.abc import Sequence
import struct

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.core.exceptions import DimensionError

_ENCAPSULATION = b'\x00\x01\x00\x00'  # plain CDR, little endian
_STAMP = struct.Struct('<iI')
_LENGTH = struct.Struct('<I')


class JointStateEncoder:
    """
    Serialize joint states of one set of joints.

    Parameters
    ----------
    names : sequence of str
        Joint names.
    frame : str
        Frame in the header.

    """

    def __init__(self, names: Sequence[str], frame: str = '') -> None:
        self.names = tuple(names)
        # Counted from the stamp's end, which is 8 bytes after the start of the content: alignments
        # agree.
        body = bytearray()
        _append_string(body, frame)
        _append_length(body, len(self.names))
        for name in self.names:
            _append_string(body, name)
        self._body = bytes(body)

    def encode(
        self, stamp: int, position: ArrayLike, velocity: ArrayLike, effort: ArrayLike
    ) -> bytes:
        """
        Serialize one message.

        Parameters
        ----------
        stamp : int
            Time in the header [ns].
        position, velocity, effort : array_like, shape (len(names),) or (0,)
            Values; an empty one stays empty.

        Raises
        ------
        DimensionError
            If an array has another length.

        """
        seconds, nanoseconds = divmod(stamp, 1_000_000_000)
        data = bytearray(_STAMP.pack(seconds, nanoseconds))
        data += self._body
        for name, values in (('position', position), ('velocity', velocity), ('effort', effort)):
            array = np.asarray(values, dtype='<f8')
            if array.shape not in ((0,), (len(self.names),)):
                raise DimensionError(name, (len(self.names),), array.shape)
            _append_length(data, array.size)
            if array.size:
                data += bytes(-len(data) % 8)
                data += array.tobytes()
        return _ENCAPSULATION + bytes(data)


def _append_length(data: bytearray, length: int) -> None:
    data += bytes(-len(data) % 4)
    data += _LENGTH.pack(length)


def _append_string(data: bytearray, text: str) -> None:
    encoded = text.encode('utf-8') + b'\x00'
    _append_length(data, len(encoded))
    data += encoded

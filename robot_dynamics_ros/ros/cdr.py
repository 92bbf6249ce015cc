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
Read serialized messages (CDR) without trusting them.

What the middleware's own code does with bytes that are no message of the type is not bounded: a
sequence that claims to have thousands of millions of strings is allocated before anything is
checked. Here every length is compared with the bytes that are left.

"""

from __future__ import annotations

import struct

import numpy as np

from robot_dynamics_ros.core.arrays import Vector

_HEADER = 4
_ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}


class CdrReader:
    """
    A place in the bytes of a message, behind their header.

    Parameters
    ----------
    data : bytes
        The serialized message.

    Raises
    ------
    ValueError
        If they are not plain CDR; by all methods, if the bytes end too early or a text is not
        UTF-8.

    """

    def __init__(self, data: bytes) -> None:
        order = _ORDERS.get(bytes(data[:2]))
        if order is None or len(data) < _HEADER:
            raise ValueError('not the serialized form of a message')
        # Alignment is counted from the end of the header.
        self._data = memoryview(data)[_HEADER:]
        self._at = 0
        self._count = struct.Struct(f'{order}I')
        self._time = struct.Struct(f'{order}iI')
        self._float = f'{order}f8'

    def _align(self, size: int) -> None:
        self._at += -self._at % size

    def _unpack(self, form: struct.Struct) -> tuple[int, ...]:
        self._align(4)
        try:
            values = form.unpack_from(self._data, self._at)
        except struct.error as error:
            raise ValueError('the message ends too early') from error
        self._at += form.size
        return values

    def count(self, least_size: int = 1) -> int:
        """Return the length of a sequence whose entries take at least so many bytes."""
        (count,) = self._unpack(self._count)
        if count * least_size > len(self._data) - self._at:
            raise ValueError(f'{count} entries are announced, more than the message can hold')
        return count

    def unsigned(self) -> int:
        """Return an unsigned integer of 32 bits."""
        return self._unpack(self._count)[0]

    def flag(self) -> bool:
        """Return a boolean: one byte that is 0 or 1."""
        value = bytes(self._data[self._at : self._at + 1])
        if value not in (b'\0', b'\1'):
            raise ValueError('a boolean is neither 0 nor 1')
        self._at += 1
        return value == b'\1'

    def time(self) -> tuple[int, int]:
        """Return a Time or Duration as seconds and nanoseconds."""
        sec, nanosec = self._unpack(self._time)
        return sec, nanosec

    def text(self) -> str:
        """Return a string."""
        size = self.count()
        text = bytes(self._data[self._at : self._at + size])
        self._at += size
        return text.rstrip(b'\0').decode()

    def texts(self, most: int = 10_000) -> list[str]:
        """Return a sequence of strings; ValueError if there are more than `most`."""
        count = self.count(4)
        if count > most:
            raise ValueError(f'{count} strings are announced, allowed are {most}')
        return [self.text() for _ in range(count)]

    def numbers(self) -> Vector:
        """Return a sequence of float64, which shares the memory of the message."""
        count = self.count()
        return self.floats(count) if count else np.empty(0)

    def floats(self, count: int) -> Vector:
        """Return so many float64, which share the memory of the message."""
        self._align(8)
        if 8 * count > len(self._data) - self._at:
            raise ValueError(f'{count} numbers are expected, more than the message holds')
        values = np.frombuffer(self._data, self._float, count, self._at)
        self._at += 8 * count
        return values.astype(np.float64, copy=False)


def read_text(data: bytes) -> str:
    """
    Return the text of a serialized String.

    Raises
    ------
    ValueError
        If it is none.

    """
    return CdrReader(data).text()


def read_inertia(data: bytes) -> tuple[str, Vector]:
    """
    Return what a serialized InertiaStamped holds.

    Returns
    -------
    frame_id : str
    numbers : ndarray, shape (10,)
        Mass [kg], centre of mass [m], and ixx, ixy, ixz, iyy, iyz, izz [kg m^2].

    Raises
    ------
    ValueError
        If it is none.

    """
    reader = CdrReader(data)
    reader.time()
    frame_id = reader.text()
    return frame_id, reader.floats(10)


def read_flag(data: bytes) -> bool:
    """
    Return the value of a serialized Bool.

    Raises
    ------
    ValueError
        If it is none.

    """
    return CdrReader(data).flag()


def read_wrench(data: bytes) -> tuple[str, Vector]:
    """
    Return what a serialized WrenchStamped holds.

    Returns
    -------
    frame_id : str
    wrench : ndarray, shape (6,)
        ``[f; n]`` [N, N m].

    Raises
    ------
    ValueError
        If it is none.

    """
    reader = CdrReader(data)
    reader.time()
    frame_id = reader.text()
    return frame_id, reader.floats(6)


def read_command(data: bytes) -> Vector:
    """
    Return the numbers of a serialized Float64MultiArray.

    Raises
    ------
    ValueError
        If it is none.

    """
    reader = CdrReader(data)
    for _ in range(reader.count(12)):  # the dimensions of its layout
        reader.text()
        reader.unsigned()
        reader.unsigned()
    reader.unsigned()  # data_offset
    return reader.numbers()

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
Messages of fixed shape, written and read in their serialized form.

Making the Python object of a JointState and filling it takes longer than computing the torque. A
joint state of one robot always has the same names and sizes, so its serialized form differs from
the last one in its numbers only. Where those stand is found by serializing a message of the same
shape with known numbers, and looking them up in it. A message of any other shape, or in a format
that is not understood, takes the long way.

"""

from __future__ import annotations

import array
from collections.abc import Sequence
import struct
from typing import Any

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.ros.cdr import CdrReader

RMW_ERROR: type[Exception] = rclpy_implementation.RMWError
"""What rclpy raises for bytes that are no message of the type."""

_STAMP = struct.Struct('=iI')
_MARK_STAMP = (0x5A17_3C55, 0x2B6D_9E01)
_LAYOUTS_KEPT = 8


def _marks(n: int, first: float) -> list[float]:
    """Return `n` numbers that stand nowhere else."""
    return [first + 0.123456789 * i for i in range(1, n + 1)]


class CommandTemplate:
    """
    A serialized Float64MultiArray.

    Parameters
    ----------
    n : int
        Number of values.

    Attributes
    ----------
    values : ndarray, shape (n,)
        The numbers, to be written in place.

    """

    def __init__(self, n: int) -> None:
        marks = _marks(n, 1e3)
        self._data = bytearray(serialize_message(Float64MultiArray(data=marks)))
        self.values = _view(self._data, marks)

    def __bytes__(self) -> bytes:
        """Return the message as it is now."""
        return bytes(self._data)


class JointStateTemplate:
    """
    A serialized JointState.

    Parameters
    ----------
    names : sequence of str
        Joint names.
    frame_id : str
        Frame in the header.
    has_position, has_velocity, has_effort : bool
        Which arrays are there.

    Attributes
    ----------
    names : list of str
    position, velocity, effort : ndarray, shape (n,) or (0,)
        The numbers, to be written in place.

    """

    def __init__(
        self,
        names: Sequence[str],
        frame_id: str = '',
        *,
        has_position: bool = True,
        has_velocity: bool = True,
        has_effort: bool = True,
    ) -> None:
        self.names = list(names)
        marks = [
            _marks(len(names) if is_there else 0, first)
            for is_there, first in (
                (has_position, 1e3),
                (has_velocity, 2e3),
                (has_effort, 3e3),
            )
        ]
        message = JointState(
            name=self.names, position=marks[0], velocity=marks[1], effort=marks[2]
        )
        message.header.frame_id = frame_id
        message.header.stamp.sec, message.header.stamp.nanosec = _MARK_STAMP
        self._data = bytearray(serialize_message(message))
        self._stamp_at = self._data.index(_STAMP.pack(*_MARK_STAMP))
        self.position, self.velocity, self.effort = (_view(self._data, each) for each in marks)
        self.fields = [_place(self._data, each) for each in marks]
        self.stamp_field = (self._stamp_at, _STAMP.size)

    def set_stamp(self, sec: int, nanosec: int) -> None:
        """Write the stamp of the header."""
        _STAMP.pack_into(self._data, self._stamp_at, sec, nanosec)

    def __bytes__(self) -> bytes:
        """Return the message as it is now."""
        return bytes(self._data)


class _Layout:
    """What joint states of one shape have in common: all but numbers, stamp and padding."""

    def __init__(self, message: JointState) -> None:
        template = JointStateTemplate(
            message.name,
            message.header.frame_id,
            has_position=bool(message.position),
            has_velocity=bool(message.velocity),
            has_effort=bool(message.effort),
        )
        data, mask = bytes(template), _mask(message)
        self.names = template.names
        self.stamp_at = template.stamp_field[0]
        self.fields = template.fields
        self._size = len(mask)  # what follows is padding
        self._mask = int.from_bytes(mask, 'little')
        self._expected = int.from_bytes(data[: self._size], 'little') & self._mask
        self._is_understood = len(data) >= self._size and not any(
            any(mask[start : start + size]) for start, size in (template.stamp_field, *self.fields)
        )

    def fits(self, data: bytes) -> bool:
        """Return whether the message has this shape, names and all."""
        if len(data) < self._size or not self._is_understood:
            return False
        return int.from_bytes(data[: self._size], 'little') & self._mask == self._expected


def _mask(message: JointState) -> bytes:
    """Return which bytes of the serialized message (CDR) are neither number, stamp nor padding."""
    mask = bytearray(b'\xff' * 4 + b'\0' * 8)  # what format it is, the stamp

    def add(size: int, alignment: int, mark: bytes) -> None:
        mask.extend(b'\0' * (-(len(mask) - 4) % alignment) + mark * size)

    def add_text(text: str) -> None:
        add(4, 4, b'\xff')
        add(len(text.encode()) + 1, 1, b'\xff')

    add_text(message.header.frame_id)
    add(4, 4, b'\xff')
    for name in message.name:
        add_text(name)
    for field in (message.position, message.velocity, message.effort):
        add(4, 4, b'\xff')
        if len(field):
            add(8 * len(field), 8, b'\0')
    return bytes(mask)


class JointStateReader:
    """
    Read serialized joint states.

    Attributes
    ----------
    names : list of str
        Joint names of the last message.
    sec, nanosec : int
        Its stamp.
    position, velocity, effort : array_like
        Its arrays, to be copied to be kept.

    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.sec = self.nanosec = 0
        self.position: Any = ()
        self.velocity: Any = ()
        self.effort: Any = ()
        self._layouts: list[_Layout] = []

    @property
    def stamp(self) -> float:
        """Return the stamp of the last message [s]."""
        return self.sec + 1e-9 * self.nanosec

    def read(self, data: bytes) -> bool:
        """Read a message, quickly if its shape is known; return whether it is one."""
        for layout in self._layouts:
            if layout.fits(data):
                self._read_numbers(layout, data)
                return True
        try:
            message = _joint_state(data)
        except ValueError:
            return False
        self.names = list(message.name)
        self.sec, self.nanosec = message.header.stamp.sec, message.header.stamp.nanosec
        self.position, self.velocity = message.position, message.velocity
        self.effort = message.effort
        self._remember(message, data)
        return True

    def _read_numbers(self, layout: _Layout, data: bytes) -> None:
        self.names = layout.names
        self.sec, self.nanosec = _STAMP.unpack_from(data, layout.stamp_at)
        (at_q, size_q), (at_v, size_v), (at_effort, size_effort) = layout.fields
        self.position = np.frombuffer(data, np.float64, size_q // 8, at_q) if size_q else ()
        self.velocity = np.frombuffer(data, np.float64, size_v // 8, at_v) if size_v else ()
        self.effort = (
            np.frombuffer(data, np.float64, size_effort // 8, at_effort) if size_effort else ()
        )

    def _remember(self, message: JointState, data: bytes) -> None:
        n = len(message.name)
        if any(
            len(field) not in (0, n)
            for field in (message.position, message.velocity, message.effort)
        ):
            return
        layout = _Layout(message)
        if layout.fits(data):
            self._layouts = [layout, *self._layouts[: _LAYOUTS_KEPT - 1]]


def _joint_state(data: bytes) -> JointState:
    """Return the message in the bytes; ValueError if there is none."""
    reader = CdrReader(data)
    message = JointState()
    message.header.stamp.sec, message.header.stamp.nanosec = reader.time()
    message.header.frame_id = reader.text()
    message.name = reader.texts()
    for field in ('position', 'velocity', 'effort'):
        setattr(message, field, array.array('d', reader.numbers().tobytes()))
    return message


def _place(data: bytearray, marks: Sequence[float]) -> tuple[int, int]:
    """Return where the numbers stand, and how many bytes they take."""
    if not marks:
        return 0, 0
    packed = np.array(marks).tobytes()
    return data.index(packed), len(packed)


def _view(data: bytearray, marks: Sequence[float]) -> Vector:
    """Return an array that shares the memory of the numbers."""
    at, size = _place(data, marks)
    view: Vector = np.frombuffer(data, np.float64, size // 8, at)
    return view

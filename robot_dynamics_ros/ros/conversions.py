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
Conversions between ROS messages and arrays, in pairs: ``x_from_message`` and ``message_from_x``.

Times are floats in seconds. Arrays are float64, in the order of the names that stand beside them.
Empty arrays of a message mean "not given" and become None, or the other way round. Nothing here
judges values: core does that.

"""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, NamedTuple

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import InertiaStamped
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory as Spline
from robot_dynamics_ros.ros.cdr import read_inertia

_NANO = 1_000_000_000
_LARGEST_SECONDS = 2**31 - 1


class TrajectoryPoints(NamedTuple):
    """
    A trajectory as core takes it.

    Attributes
    ----------
    joint_names : tuple of str
    stamp : float
        Start time from the header [s]; 0 if it starts at once.
    times : ndarray, shape (n_points,)
        ``time_from_start`` of the points [s].
    positions, velocities, accelerations, efforts : list of (ndarray or None)
        One entry per point; None where the point does not give it.

    """

    joint_names: tuple[str, ...]
    stamp: float
    times: Vector
    positions: list[Vector | None]
    velocities: list[Vector | None]
    accelerations: list[Vector | None]
    efforts: list[Vector | None]


def seconds_from_time(message: Any) -> float:
    """Return a Time or Duration message in seconds."""
    seconds: float = message.sec + message.nanosec * 1e-9
    return seconds


def time_from_seconds(seconds: float) -> Time:
    """Return a time as message, rounded to nanoseconds and cut to the range of the message."""
    sec, nanosec = _split(seconds)
    return Time(sec=sec, nanosec=nanosec)


def duration_from_seconds(seconds: float) -> Duration:
    """Return a duration as message, rounded to nanoseconds and cut to the range of the message."""
    sec, nanosec = _split(seconds)
    return Duration(sec=sec, nanosec=nanosec)


def _split(seconds: float) -> tuple[int, int]:
    limited = min(max(seconds, -_LARGEST_SECONDS), _LARGEST_SECONDS)
    whole = floor(limited)
    nanoseconds = round((limited - whole) * _NANO)
    return (whole + 1, 0) if nanoseconds >= _NANO else (whole, nanoseconds)


def array_from_sequence(values: Any) -> Vector | None:
    """Return the array of a message field, or None if the field is empty."""
    return np.array(values, dtype=np.float64) if len(values) else None


def sequence_from_array(values: Any) -> array.array[float]:
    """Return an array in the form that a message field takes fastest; empty for None."""
    if values is None:
        return array.array('d')
    return array.array('d', np.ascontiguousarray(values, dtype=np.float64).tobytes())


def command_from_message(message: Float64MultiArray) -> Vector:
    """Return the values of a command, shape (n,)."""
    return np.array(message.data, dtype=np.float64)


def message_from_command(values: Vector) -> Float64MultiArray:
    """Return a command as message."""
    return Float64MultiArray(data=sequence_from_array(values))


class NamedState(NamedTuple):
    """A JointState as arrays; those that the message does not give are None."""

    joint_names: tuple[str, ...]
    stamp: float
    position: Vector | None
    velocity: Vector | None
    effort: Vector | None


def state_from_message(message: JointState) -> NamedState:
    """Return a joint state as arrays."""
    return NamedState(
        tuple(message.name),
        seconds_from_time(message.header.stamp),
        array_from_sequence(message.position),
        array_from_sequence(message.velocity),
        array_from_sequence(message.effort),
    )


def message_from_state(state: NamedState, frame_id: str = '') -> JointState:
    """Return a joint state as message."""
    message = JointState(
        name=list(state.joint_names),
        position=sequence_from_array(state.position),
        velocity=sequence_from_array(state.velocity),
        effort=sequence_from_array(state.effort),
    )
    message.header.stamp = time_from_seconds(state.stamp)
    message.header.frame_id = frame_id
    return message


def named_efforts_from_message(message: JointState) -> Mapping[str, float]:
    """
    Return the efforts of a joint state by name; empty if names and efforts do not fit together.

    Names that stand twice do not fit.

    """
    names = message.name
    if len(message.effort) != len(names) or len(set(names)) != len(names):
        return {}
    return dict(zip(names, message.effort))


def points_from_message(message: JointTrajectory) -> TrajectoryPoints:
    """Return a trajectory as arrays."""
    points = message.points
    return TrajectoryPoints(
        tuple(message.joint_names),
        seconds_from_time(message.header.stamp),
        np.array([seconds_from_time(point.time_from_start) for point in points]),
        [array_from_sequence(point.positions) for point in points],
        [array_from_sequence(point.velocities) for point in points],
        [array_from_sequence(point.accelerations) for point in points],
        [array_from_sequence(point.effort) for point in points],
    )


def message_from_points(points: TrajectoryPoints) -> JointTrajectory:
    """Return a trajectory as message."""
    message = JointTrajectory(joint_names=list(points.joint_names))
    message.header.stamp = time_from_seconds(points.stamp)
    message.points = [
        JointTrajectoryPoint(
            positions=sequence_from_array(position),
            velocities=sequence_from_array(velocity),
            accelerations=sequence_from_array(acceleration),
            effort=sequence_from_array(effort),
            time_from_start=duration_from_seconds(time),
        )
        for time, position, velocity, acceleration, effort in zip(
            points.times.tolist(),
            points.positions,
            points.velocities,
            points.accelerations,
            points.efforts,
        )
    ]
    return message


def message_from_trajectory(trajectory: Spline, begin: float) -> JointTrajectory:
    """
    Return a trajectory with all derivatives at its points as a message.

    Parameters
    ----------
    trajectory : robot_dynamics_ros.core.trajectory.spline.JointTrajectory
        The motion.
    begin : float
        When its time zero is [s]; 0 starts at once.

    """
    return message_from_points(
        TrajectoryPoints(
            trajectory.joint_names,
            begin,
            trajectory.times,
            list(trajectory.positions),
            list(trajectory.velocities),
            list(trajectory.accelerations),
            [None] * len(trajectory.times),
        )
    )


def payload_from_bytes(data: bytes, default_frame: str = '') -> Payload:
    """
    Return the payload in a serialized InertiaStamped.

    The tensor of the message counts about the centre of mass, in axes parallel to the frame of the
    header.

    Parameters
    ----------
    data : bytes
        Mass, centre of mass and tensor; ``header.frame_id`` is the frame that holds the payload.
    default_frame : str
        Frame if the header names none.

    Raises
    ------
    ModelError
        If no body has this inertia.
    NonFiniteError
        If a number is not finite.
    ValueError
        If the bytes are no InertiaStamped.

    """
    frame_id, numbers = read_inertia(data)
    return Payload(
        mass=float(numbers[0]),
        frame=frame_id or default_frame,
        com=numbers[1:4].copy(),
        inertia=symmetric_matrix(numbers[4:].tolist()),
    )


def message_from_payload(payload: Payload) -> InertiaStamped:
    """Return a payload as message."""
    message = InertiaStamped()
    message.header.frame_id = payload.frame
    message.inertia.m = float(payload.mass)
    for axis, value in zip('xyz', payload.com.tolist()):
        setattr(message.inertia.com, axis, value)
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        setattr(message.inertia, f'i{"xyz"[i]}{"xyz"[j]}', float(payload.inertia[i, j]))
    return message


def symmetric_matrix(values: Sequence[float]) -> Vector:
    """Return the symmetric 3 x 3 matrix of ``xx, xy, xz, yy, yz, zz``."""
    xx, xy, xz, yy, yz, zz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)

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
Write a rosbag2 bag in MCAP form, whole or not at all.

The bag is a folder with one ``.mcap`` file and ``metadata.yaml``. Message definitions are
embedded, so that it opens in ``ros2 bag``, PlotJuggler and Foxglove without the packages of the
messages. Version 8 of the metadata is written: it is the newest that all ROS 2 distributions from
Humble on understand (version 9 stores QoS profiles in a new form).

"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
from rosbags.typesys import get_typestore, Stores

from robot_dynamics_ros import __version__
from robot_dynamics_ros.bags.joint_state_encoder import JointStateEncoder
from robot_dynamics_ros.bags.joint_states import JOINT_STATE
from robot_dynamics_ros.bags.location import STORAGE_SUFFIXES
from robot_dynamics_ros.bags.qos import latched, reliable
from robot_dynamics_ros.core.arrays import as_matrix, as_vector
from robot_dynamics_ros.core.exceptions import BagError, OutputError
from robot_dynamics_ros.report.atomic import refuse_existing, staged_directory

FLOAT64_MULTI_ARRAY = 'std_msgs/msg/Float64MultiArray'
JOINT_TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
ODOMETRY = 'nav_msgs/msg/Odometry'
WRENCH_STAMPED = 'geometry_msgs/msg/WrenchStamped'
CLOCK = 'rosgraph_msgs/msg/Clock'
STRING = 'std_msgs/msg/String'


class BagWriter:
    """
    A bag under construction, as a context manager.

    It appears under its name when the block ends; an exception in the block leaves nothing behind.
    Times are nanoseconds; each message is recorded at its own stamp unless `log_time` says
    otherwise.

    Parameters
    ----------
    path : str or Path
        Folder of the bag.
    overwrite : bool
        Replace a bag that exists; a folder that is not a bag is never replaced.

    Raises
    ------
    OutputError
        If the path exists and may not be replaced, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with BagWriter(f'{folder}/run') as bag:
    ...     bag.write_joint_state('/joint_states', 1_000_000, ['elbow'], [0.1], effort=[2.0])
    >>> sorted(path.name for path in Path(folder, 'run').iterdir())
    ['metadata.yaml', 'run.mcap']

    """

    def __init__(self, path: str | Path, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self._overwrite = overwrite
        refuse_existing(self.path, overwrite=overwrite)
        if self.path.exists() and not _is_bag(self.path):
            raise OutputError(f'{self.path} is not a bag, so it is not replaced by one')
        self._stack = ExitStack()
        self._writer: Writer | None = None
        self._store = get_typestore(Stores.ROS2_JAZZY)
        self._types: Any = self._store.types
        self._connections: dict[str, Connection] = {}
        self._encoders: dict[str, JointStateEncoder] = {}

    def __enter__(self) -> BagWriter:
        staging = staged_directory(self.path, overwrite=self._overwrite, replace=True)
        folder = self._stack.enter_context(staging)
        folder.rmdir()  # rosbags makes it itself
        writer = Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP)
        writer.set_custom_data('written_by', f'robot_dynamics_ros {__version__}')
        self._writer = self._stack.enter_context(writer)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer = None
        try:
            self._stack.__exit__(kind, error, trace)
        except OSError as err:
            raise OutputError(f'cannot write {self.path}: {err.strerror}') from err

    def write_joint_state(
        self,
        topic: str,
        stamp: int,
        names: Sequence[str],
        position: ArrayLike = (),
        velocity: ArrayLike = (),
        effort: ArrayLike = (),
        *,
        log_time: int | None = None,
    ) -> None:
        """
        Add a ``sensor_msgs/msg/JointState``.

        Parameters
        ----------
        topic : str
            Its topic.
        stamp : int
            Time in the header [ns].
        names : sequence of str
            Joint names.
        position, velocity, effort : array_like, shape (len(names),), or empty
            Values [rad | m], [rad/s | m/s], [N m | N].
        log_time : int, optional
            Time of recording [ns]; `stamp` by default.

        Raises
        ------
        DimensionError
            If an array has neither ``len(names)`` entries nor none.
        BagError
            If the topic has another type already, or the time is negative.
        OutputError
            If the disk refuses.

        """
        encoder = self._encoders.get(topic)
        if encoder is None or encoder.names != tuple(names):
            encoder = self._encoders[topic] = JointStateEncoder(names)
        data = encoder.encode(stamp, position, velocity, effort)
        self.write_serialized(topic, JOINT_STATE, stamp if log_time is None else log_time, data)

    def write_float64_multi_array(self, topic: str, log_time: int, values: ArrayLike) -> None:
        """Add a ``std_msgs/msg/Float64MultiArray``; errors as in `write_serialized`."""
        layout = self._types['std_msgs/msg/MultiArrayLayout'](dim=[], data_offset=0)
        data = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        self._write_message(topic, log_time, FLOAT64_MULTI_ARRAY, layout=layout, data=data)

    def write_joint_trajectory(
        self,
        topic: str,
        stamp: int,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: ArrayLike | None,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
    ) -> None:
        """
        Add a ``trajectory_msgs/msg/JointTrajectory``.

        Parameters
        ----------
        topic : str
            Its topic.
        stamp : int
            Time in the header [ns].
        joint_names : sequence of str
            Names of the columns.
        times : array_like, shape (n,)
            Times from the start of the trajectory [s].
        positions, velocities, accelerations, efforts : array_like, or None
            Shape (n, len(joint_names)); None leaves the field of every point empty [rad | m],
            [rad/s | m/s], [rad/s^2 | m/s^2], [N m | N].

        Raises
        ------
        DimensionError
            If an array has another shape.
        BagError
            If the topic has another type already, or the time is negative.
        OutputError
            If the disk refuses.

        """
        offsets = as_matrix('times', times, (-1,))
        shape = (len(offsets), len(joint_names))
        fields = {
            'positions': _matrix_or_none('positions', positions, shape),
            'velocities': _matrix_or_none('velocities', velocities, shape),
            'accelerations': _matrix_or_none('accelerations', accelerations, shape),
            'effort': _matrix_or_none('efforts', efforts, shape),
        }
        points = [
            self._types['trajectory_msgs/msg/JointTrajectoryPoint'](
                time_from_start=self._time('Duration', round(float(offset) * 1e9)),
                **{
                    name: np.zeros(0) if values is None else np.array(values[row])
                    for name, values in fields.items()
                },
            )
            for row, offset in enumerate(offsets)
        ]
        self._write_message(
            topic,
            stamp,
            JOINT_TRAJECTORY,
            header=self._header(stamp),
            joint_names=list(joint_names),
            points=points,
        )

    def write_wrench(self, topic: str, stamp: int, frame: str, wrench: ArrayLike) -> None:
        """
        Add a ``geometry_msgs/msg/WrenchStamped``.

        Parameters
        ----------
        topic : str
            Its topic.
        stamp : int
            Time in the header [ns].
        frame : str
            Frame that the wrench is expressed in.
        wrench : array_like, shape (6,)
            ``[f; n]`` [N, N m].

        Raises
        ------
        DimensionError
            If the wrench does not have six entries.
        BagError
            If the topic has another type already, or the time is negative.
        OutputError
            If the disk refuses.

        """
        values = as_vector('wrench', wrench, 6).tolist()
        force, torque = (
            self._geometry('Vector3', values[:3]),
            self._geometry('Vector3', values[3:]),
        )
        content = self._geometry('Wrench', (force, torque))
        self._write_message(
            topic, stamp, WRENCH_STAMPED, header=self._header(stamp, frame), wrench=content
        )

    def write_odometry(
        self, topic: str, stamp: int, frames: tuple[str, str], pose: ArrayLike, twist: ArrayLike
    ) -> None:
        """
        Add a ``nav_msgs/msg/Odometry`` without covariances; errors as in `write_wrench`.

        Parameters
        ----------
        topic : str
            Its topic.
        stamp : int
            Time in the header [ns].
        frames : tuple of two str
            That of the pose, and that of the body, which the twist is expressed in.
        pose : array_like, shape (7,)
            Position and quaternion ``[x y z, qx qy qz qw]`` [m].
        twist : array_like, shape (6,)
            ``[v; w]`` [m/s, rad/s].

        """
        place, rate = as_vector('pose', pose, 7).tolist(), as_vector('twist', twist, 6).tolist()
        parts = self._geometry('Point', place[:3]), self._geometry('Quaternion', place[3:])
        rates = self._geometry('Vector3', rate[:3]), self._geometry('Vector3', rate[3:])
        unknown = np.zeros(36)
        self._write_message(
            topic,
            stamp,
            ODOMETRY,
            header=self._header(stamp, frames[0]),
            child_frame_id=frames[1],
            pose=self._geometry('PoseWithCovariance', (self._geometry('Pose', parts), unknown)),
            twist=self._geometry('TwistWithCovariance', (self._geometry('Twist', rates), unknown)),
        )

    def write_clock(self, stamp: int, topic: str = '/clock') -> None:
        """Add a ``rosgraph_msgs/msg/Clock``; errors as in `write_serialized`."""
        self._write_message(topic, stamp, CLOCK, clock=self._time('Time', stamp))

    def write_string(self, topic: str, log_time: int, text: str) -> None:
        """Add a latched ``std_msgs/msg/String``; errors as in `write_serialized`."""
        self._write_message(topic, log_time, STRING, data=text)

    def write_serialized(self, topic: str, msgtype: str, log_time: int, data: bytes) -> None:
        """
        Add a message that is serialized already, as rclpy gives it.

        Parameters
        ----------
        topic : str
            Its topic.
        msgtype : str
            One of the types of ROS 2 Jazzy, as in ``'sensor_msgs/msg/JointState'``.
        log_time : int
            Time of recording [ns].
        data : bytes
            CDR bytes.

        Raises
        ------
        BagError
            If the topic has another type already, the type is unknown, the time is negative, or
            the bag is not open.
        OutputError
            If the disk refuses.

        """
        if self._writer is None:
            raise BagError(f'{self.path} is not open; use it in a with statement')
        if log_time < 0:
            raise BagError(f'time {log_time} ns on {topic} is negative')
        connection = self._connections.get(topic) or self._connect(topic, msgtype)
        if connection.msgtype != msgtype:
            raise BagError(f'{topic} has type {connection.msgtype}, got a {msgtype}')
        try:
            self._writer.write(connection, log_time, data)
        except OSError as err:
            raise OutputError(f'cannot write {self.path}: {err.strerror}') from err

    def _connect(self, topic: str, msgtype: str) -> Connection:
        if self._writer is None or msgtype not in self._types:
            raise BagError(f'message type {msgtype} is not known')
        qos = latched() if msgtype == STRING else reliable()
        try:
            connection = self._writer.add_connection(
                topic, msgtype, typestore=self._store, offered_qos_profiles=[qos]
            )
        except WriterError as err:
            raise BagError(str(err)) from err
        self._connections[topic] = connection
        return connection

    def _write_message(self, topic: str, log_time: int, msgtype: str, **fields: Any) -> None:
        data = self._store.serialize_cdr(self._types[msgtype](**fields), msgtype)
        self.write_serialized(topic, msgtype, log_time, bytes(data))

    def _header(self, stamp: int, frame: str = '') -> Any:
        return self._types['std_msgs/msg/Header'](stamp=self._time('Time', stamp), frame_id=frame)

    def _geometry(self, kind: str, values: Sequence[Any]) -> Any:
        return self._types[f'geometry_msgs/msg/{kind}'](*values)

    def _time(self, kind: str, nanoseconds: int) -> Any:
        seconds, rest = divmod(nanoseconds, 1_000_000_000)
        return self._types[f'builtin_interfaces/msg/{kind}'](sec=seconds, nanosec=rest)


def _is_bag(path: Path) -> bool:
    """Tell whether a folder holds nothing but a bag, so that replacing it loses nothing else."""
    return path.is_dir() and all(
        entry.name == 'metadata.yaml' or entry.name.endswith(STORAGE_SUFFIXES)
        for entry in path.iterdir()
    )


def _matrix_or_none(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Any:
    return None if values is None else as_matrix(name, values, shape)

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


"""What a node learnt, kept in a file over restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    ForeignFileError,
    OutputError,
    RobotDynamicsError,
)
from robot_dynamics_ros.core.identification.online.online_state import (
    read_state,
    set_aside,
    write_state,
)
from robot_dynamics_ros.core.identification.online.running_model import RunningModel
from robot_dynamics_ros.ros.robot_source import local_path


class SavedState:
    """
    Restore a running model from ``state_file``, and keep it there.

    Parameters
    ----------
    name : str
        Value of ``state_file``; empty for none.
    running : RunningModel
        What learns.
    logger : logger of a node
        Is told what cannot be read or written.

    Raises
    ------
    ConfigurationError
        If the file is no saved state, cannot be read, or cannot be moved aside where it is of
        something else; it is left as it is.

    Attributes
    ----------
    message : str
        How the model began.

    """

    def __init__(self, name: str, running: RunningModel, logger: Any) -> None:
        self._path = local_path('state_file', name) if name else None
        self._running, self._logger = running, logger
        self.message = self._resume()

    def _resume(self) -> str:
        path = self._path
        if path is None:
            return 'no state_file'
        try:
            self._running.restore(read_state(path, self._running.online.digests))
        except ForeignFileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return 'begun anew: there was no saved state'
            raise ConfigurationError(
                f'state_file: {error}; name another file, or one that is not there yet'
            ) from error
        except RobotDynamicsError as error:
            reason = ' '.join(str(error).split())
            kept = self._kept(path, reason)
            self._logger.warning(f'{reason}; it is kept as {kept}, and all begins anew')
            return f'begun anew: {reason}; it is kept as {kept}'
        return 'resumed from the saved state'

    @staticmethod
    def _kept(path: Path, reason: str) -> str:
        try:
            return set_aside(path).name
        except OutputError as error:
            raise ConfigurationError(f'state_file: {reason}, and {error}') from error

    def keep(self) -> None:
        """Write what was learnt; an error is logged."""
        if self._path is None:
            return
        try:
            write_state(self._path, self._running.state(), self._running.online.digests)
        except RobotDynamicsError as error:
            self._logger.error(str(error), throttle_duration_sec=60.0)

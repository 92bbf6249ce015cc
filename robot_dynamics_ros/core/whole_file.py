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

"""Write a file whole or not at all, as what core keeps for itself."""

from __future__ import annotations

import os
from pathlib import Path
import tempfile

PRIVATE = 0o600
"""Only its owner may read the file."""


def write_whole(path: Path, content: bytes, mode: int = PRIVATE) -> None:
    """
    Put a file in the place of what is there, under a temporary name until it is complete.

    Parameters
    ----------
    path : Path
        The file; its folder exists.
    content : bytes
        All of its content; it is on the disk when this returns.
    mode : int
        Permissions of the file.

    Raises
    ------
    OSError
        If it cannot be written; then nothing has changed, and nothing is left beside it.

    """
    handle, name = tempfile.mkstemp(prefix=f'.{path.name}.', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

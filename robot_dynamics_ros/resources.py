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
Finding the files that come with the package: robots (``urdf/``) and parameters (``config/``).

One set of names, four ways to install, asked in this order:

1. a checkout (also ``pip install -e`` and ``colcon build --symlink-install``): the folder
   beside the package;
2. a built ROS 2 workspace: the share folder that the ament index names;
3. ``share/robot_dynamics_ros`` of the prefix that the package lies in (pip's data files);
4. the same below the prefix of the running interpreter.

"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import sys

from robot_dynamics_ros.core.exceptions import ConfigurationError

PACKAGE = 'robot_dynamics_ros'


def urdf_path(name: str) -> Path:
    """
    Return the path of an installed robot description.

    Parameters
    ----------
    name : str
        File name in ``urdf/``, such as ``es5.urdf.xacro``.

    Returns
    -------
    path : Path
        An existing file.

    Raises
    ------
    ConfigurationError
        If there is no such file; the message lists the names that exist.

    """
    return _installed_file('urdf', name)


def config_path(name: str) -> Path:
    """
    Return the path of an installed parameter file.

    Parameters
    ----------
    name : str
        File name in ``config/``, such as ``inverse_dynamics_node.yaml``.

    Returns
    -------
    path : Path
        An existing file.

    Raises
    ------
    ConfigurationError
        If there is no such file; the message lists the names that exist.

    """
    return _installed_file('config', name)


def _installed_file(folder: str, name: str) -> Path:
    directory = _share_folder(folder)
    files = (path for path in directory.rglob('*') if path.is_file())
    names = sorted(path.relative_to(directory).as_posix() for path in files)
    if name not in names:
        raise ConfigurationError(
            f"no file '{name}' in {folder}/ of {PACKAGE}; it has: {', '.join(names)}"
        )
    return directory / name


def _share_folder(folder: str) -> Path:
    """Return the first share directory that holds `folder`, joined with it."""
    for share in _share_directories():
        if (share / folder).is_dir():
            return share / folder
    raise ConfigurationError(f'{folder}/ of {PACKAGE} is not installed; install the package again')


def _share_directories() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    if (package.parent / 'package.xml').is_file():
        yield package.parent
    indexed = _ament_share_directory()
    if indexed is not None:
        yield indexed
    for prefix in [*package.parents, Path(sys.prefix)]:
        yield prefix / 'share' / PACKAGE


def _ament_share_directory() -> Path | None:
    try:
        from ament_index_python.packages import get_package_share_directory
    except ImportError:
        return None
    try:
        return Path(get_package_share_directory(PACKAGE))
    except (LookupError, OSError):  # package not in the index, or AMENT_PREFIX_PATH not set
        return None

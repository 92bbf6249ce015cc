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
Files and folders that appear whole or not at all, and never over something by accident.

A file is written under a temporary name beside its place and renamed when it is complete. A folder
is filled under a temporary name in the same way. What exists is refused unless the caller says
``overwrite=True``; and even then a folder only has the entries replaced that the new result
brings, so that nothing of somebody else's is lost.

"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import tempfile

from robot_dynamics_ros.core.exceptions import OutputError


def write_bytes(path: str | Path, content: bytes, *, overwrite: bool = False) -> Path:
    """
    Write a whole file or nothing.

    Parameters
    ----------
    path : str or Path
        The file; missing parent folders are made.
    content : bytes
        All of its content.
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    OutputError
        If the path exists and `overwrite` is false, is a folder, or cannot be written.

    """
    with staged_file(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_text(path: str | Path, content: str, *, overwrite: bool = False) -> Path:
    """
    Write a whole UTF-8 text file or nothing; arguments and errors as in `write_bytes`.

    Raises
    ------
    OutputError
        If the path exists and `overwrite` is false, is a folder, or cannot be written.

    """
    return write_bytes(path, content.encode('utf-8'), overwrite=overwrite)


@contextmanager
def staged_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """
    Give a temporary path to fill; it takes its real name when the block ends well.

    Raises
    ------
    OutputError
        If the path exists and `overwrite` is false, is a folder, or cannot be written.

    """
    path = Path(path)
    refuse_existing(path, overwrite=overwrite)
    if path.is_dir():
        raise OutputError(f'{path} is a folder, expected a file name')
    with _temporary_folder_beside(path) as folder:
        # The suffix is kept: writers such as matplotlib choose the format by it.
        temporary = folder / path.name
        yield temporary
        try:
            os.replace(temporary, path)
        except OSError as err:
            raise OutputError(f'cannot write {path}: {err.strerror}') from err


@contextmanager
def staged_directory(
    path: str | Path, *, overwrite: bool = False, replace: bool = False
) -> Iterator[Path]:
    """
    Give a temporary folder to fill; it takes its real name when the block ends well.

    Parameters
    ----------
    path : str or Path
        The folder; an empty one may exist already.
    overwrite : bool
        Put the new entries into an existing folder, over those of the same name.
    replace : bool
        Replace an existing folder as a whole instead (with `overwrite`).

    Yields
    ------
    temporary : Path
        An empty folder of the same name in another place.

    Raises
    ------
    OutputError
        If the path exists (other than as an empty folder) and `overwrite` is false, is a file, or
        cannot be written.

    """
    path = Path(path)
    refuse_filled_directory(path, overwrite=overwrite)
    with _temporary_folder_beside(path) as folder:
        temporary = folder / path.name
        temporary.mkdir()
        yield temporary
        try:
            if path.exists() and replace:
                os.replace(path, folder / 'replaced')
            if path.exists():
                _replace_entries(temporary, path, folder)
            else:
                os.replace(temporary, path)
        except OSError as err:
            raise OutputError(f'cannot write {path}: {err.strerror}') from err


def refuse_existing(path: str | Path, *, overwrite: bool = False) -> None:
    """
    Refuse a path that exists, so that long work need not end in a refusal.

    Raises
    ------
    OutputError
        If the path exists and `overwrite` is false.

    """
    if not overwrite and os.path.lexists(path):
        raise OutputError(f'{path} exists; give another name or say that it may be overwritten')


def refuse_filled_directory(path: str | Path, *, overwrite: bool = False) -> None:
    """
    Refuse a path that `staged_directory` would refuse.

    Raises
    ------
    OutputError
        If the path is a file, or a folder with something in it and `overwrite` is false.

    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise OutputError(f'{path} is a file, expected a folder')
    if is_filled_directory(path):
        refuse_existing(path, overwrite=overwrite)


def is_filled_directory(path: Path) -> bool:
    """Return whether a path is a folder with something in it."""
    return path.is_dir() and any(path.iterdir())


def _replace_entries(new: Path, old: Path, scratch: Path) -> None:
    replaced = scratch / 'replaced'
    replaced.mkdir()
    for entry in sorted(new.iterdir()):
        target = old / entry.name
        if os.path.lexists(target):
            os.replace(target, replaced / entry.name)
        os.replace(entry, target)


@contextmanager
def _temporary_folder_beside(path: Path) -> Iterator[Path]:
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f'.{path.name}.', dir=path.absolute().parent))
        folder.chmod(0o777 & ~_umask())
    except OSError as err:
        raise OutputError(f'cannot write {path}: {err.strerror}') from err
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

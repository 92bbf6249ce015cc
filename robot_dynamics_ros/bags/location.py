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

"""Find the storage files that a bag consists of, with or without its ``metadata.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from robot_dynamics_ros.bags.storage import one_line
from robot_dynamics_ros.core.exceptions import BagError

STORAGE_SUFFIXES = ('.db3', '.mcap', '.bag', '.db3.zstd', '.mcap.zstd')
"""Names of storage files end with one of these."""


@dataclass
class BagLocation:
    """
    Where a bag lies.

    Attributes
    ----------
    files : list of Path
        Storage files in recording order.
    counts : dict
        Number of messages by topic, as ``metadata.yaml`` states it; empty without one.
    warnings : list of str
        What is missing or not as it should be.

    """

    files: list[Path]
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def locate_bag(path: str | Path) -> BagLocation:
    """
    Find the storage files of a bag.

    Parameters
    ----------
    path : str or Path
        A bag folder, its ``metadata.yaml``, or one storage file (sqlite3, MCAP, ROS 1; packed by
        zstd or not).

    Raises
    ------
    BagError
        If there is no bag at this path, or more than one.

    """
    path = Path(path)
    if not path.exists():
        raise BagError(f'{path} does not exist')
    if path.name == 'metadata.yaml':
        path = path.parent
    if path.is_dir():
        return _locate_in_folder(path)
    if not path.name.endswith(STORAGE_SUFFIXES):
        raise BagError(
            f'{path} is not a bag: expected a folder or a file ending in {_SUFFIXES_TEXT}'
        )
    return BagLocation([path])


def _locate_in_folder(folder: Path) -> BagLocation:
    present = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(STORAGE_SUFFIXES)),
        key=_natural_key,
    )
    metadata, warning = _read_metadata(folder / 'metadata.yaml')
    location = BagLocation(present, _stated_counts(metadata), [warning] if warning else [])
    listed = _listed_files(metadata, folder)
    if listed:
        location.files = [file for file in listed if file.exists()]
        if missing := [file.name for file in listed if not file.exists()]:
            location.warnings.append(
                f'{len(missing)} of {len(listed)} storage files are missing: {", ".join(missing)}'
            )
    elif len({_split_stem(file) for file in present}) > 1:
        names = ', '.join(file.name for file in present[:6])
        raise BagError(f'{folder} holds several bags ({names}); name one of the files')
    if not location.files:
        raise BagError(_no_bag_text(folder, missing=bool(listed)))
    return location


def _read_metadata(path: Path) -> tuple[Mapping[str, Any], str]:
    if not path.exists():
        return {}, 'no metadata.yaml: the storage files are read directly'
    try:
        content = YAML(typ='safe').load(path.read_text('utf-8'))
        information = content['rosbag2_bagfile_information']
        if isinstance(information, Mapping):
            return information, ''
        reason = 'not as expected'
    except (OSError, YAMLError, UnicodeDecodeError, KeyError, TypeError) as err:
        reason = one_line(err)
    return {}, f'metadata.yaml is not readable ({reason}): the storage files are read directly'


def _listed_files(metadata: Mapping[str, Any], folder: Path) -> list[Path]:
    """Return the files in metadata order; only names count, so that a moved bag is found."""
    paths = metadata.get('relative_file_paths')
    if not isinstance(paths, list):
        return []
    return [folder / Path(str(entry)).name for entry in paths]


def _stated_counts(metadata: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    try:
        for entry in metadata.get('topics_with_message_count') or []:
            counts[str(entry['topic_metadata']['name'])] = int(entry['message_count'])
    except (KeyError, TypeError, ValueError):
        return {}
    return counts


def _no_bag_text(folder: Path, *, missing: bool) -> str:
    if missing:
        return f'{folder} has no data: all storage files that its metadata.yaml lists are missing'
    inner = sorted(entry.name for entry in folder.iterdir() if (entry / 'metadata.yaml').exists())
    hint = f'; there are bags inside it: {", ".join(inner[:6])}' if inner else ''
    return f'{folder} is not a bag: no file in it ends in {_SUFFIXES_TEXT}{hint}'


def _split_stem(path: Path) -> str:
    """Return what the parts of one split bag have in common: ``name_0.mcap``, ``name_1.mcap``."""
    stem, _, suffix = path.name.partition('.')
    return re.sub(r'_\d+$', '', stem) + '.' + suffix


def _natural_key(path: Path) -> list[tuple[int, str]]:
    """Sort ``name_10`` after ``name_9``."""
    return [
        (int(part), '') if part.isdigit() else (-1, part) for part in re.split(r'(\d+)', path.name)
    ]


_SUFFIXES_TEXT = ', '.join(STORAGE_SUFFIXES[:-1]) + ' or ' + STORAGE_SUFFIXES[-1]

"""The robots of the ``example-robot-data`` wheel."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

WHEEL = 'example-robot-data'


def example_urdfs() -> list[Path]:
    """Return every URDF file of the wheel, sorted; empty if it is not installed."""
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        return []
    paths = (Path(str(file.locate())) for file in files if file.suffix == '.urdf')
    return sorted(path for path in paths if path.exists())


def example_urdf(name: str) -> Path:
    """Return one URDF file by its file name, or skip the test if the wheel is not there."""
    for path in example_urdfs():
        if path.name == name:
            return path
    pytest.skip(f'{name}: the wheel {WHEEL} is not installed')

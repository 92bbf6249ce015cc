"""Data beside a development checkout; users do not have it, and tests then skip by name."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / 'shared'


def shared_path(*parts: str) -> Path:
    """Return a path in the shared folder, or skip the test with the name of what is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f'shared data not here: {"/".join(parts)}')
    return path

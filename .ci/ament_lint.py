"""Run ament's linters over the package: flake8 with the settings of setup.cfg, and pep257."""

from __future__ import annotations

from pathlib import Path
import sys

from ament_flake8.main import main as flake8
from ament_pep257.main import main as pep257

ROOT = Path(__file__).resolve().parent.parent


def python_files() -> list[str]:
    """Return the package's and the tests' Python files; ament's own search would enter .venv."""
    folders = ['robot_dynamics_ros', 'test', 'launch', 'benchmark', 'requirements', '.ci']
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob('*.py'))]
    return [str(path) for path in [ROOT / 'setup.py', *found]]


if __name__ == '__main__':
    files = python_files()
    failures = flake8(['--config', str(ROOT / 'setup.cfg'), *files])
    sys.exit(pep257(files) or failures)

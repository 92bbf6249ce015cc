"""The linters of a ROS 2 machine, as `colcon test` is expected to run them there."""

from __future__ import annotations

import pytest

from package_files import ROOT, source_files

REASON = 'this linter of ROS 2 is not installed'


def files() -> list[str]:
    folders = ('robot_dynamics_ros', 'test', 'launch', 'benchmark', 'requirements', 'docs')
    return [str(ROOT / 'setup.py'), *(str(path) for path in source_files(*folders))]


def test_copyright() -> None:
    ament_copyright = pytest.importorskip('ament_copyright.main', reason=REASON)
    assert ament_copyright.main(argv=files()) == 0


@pytest.mark.soak
def test_flake8() -> None:
    ament_flake8 = pytest.importorskip('ament_flake8.main', reason=REASON)
    assert ament_flake8.main(argv=['--config', str(ROOT / 'setup.cfg'), *files()]) == 0


@pytest.mark.soak
def test_pep257() -> None:
    ament_pep257 = pytest.importorskip('ament_pep257.main', reason=REASON)
    assert ament_pep257.main(argv=files()) == 0

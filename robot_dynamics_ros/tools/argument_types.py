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
Numbers and vectors on the command line, checked while the arguments are read.

A function here is the ``type`` of an argument. What it refuses ends the program with the usage and
exit code 2.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import inf, isfinite
from typing import Any

from robot_dynamics_ros.core.model.robot_model import STANDARD_GRAVITY
from robot_dynamics_ros.resources import urdf_path


def finite(text: str) -> float:
    """
    Return a finite number.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is something else.

    """
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a finite number")
    return value


def number_between(lower: float, upper: float, unit: str) -> Callable[[str], float]:
    """Return the type of a finite number from `lower` to `upper`, both included."""

    def number(text: str) -> float:
        value = finite(text)
        if not lower <= value <= upper:
            raise argparse.ArgumentTypeError(f"'{text}' is not {_range(lower, upper)} {unit}")
        return value

    return number


def whole_number_between(lower: int, upper: float = inf) -> Callable[[str], int]:
    """Return the type of a whole number from `lower` to `upper`, both included."""

    def whole_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = lower - 1
        if not lower <= value <= upper:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number, {_range(lower, upper)}"
            )
        return value

    return whole_number


def _range(lower: float, upper: float) -> str:
    return f'{lower:g} or more' if upper == inf else f'between {lower:g} and {upper:g}'


def robot_file(text: str) -> str:
    """Return a path as it is, or that of this package's arm for ``es5``."""
    return str(urdf_path('es5.urdf.xacro')) if text == 'es5' else text


def add_gravity_argument(container: Any) -> None:
    """Add ``--gravity``, to be passed through `validate_gravity`."""
    container.add_argument(
        '--gravity',
        nargs=3,
        type=finite,
        default=STANDARD_GRAVITY,
        metavar=('X', 'Y', 'Z'),
        help='gravity in the base frame [m/s^2]; 0 0 -9.81 by default',
    )

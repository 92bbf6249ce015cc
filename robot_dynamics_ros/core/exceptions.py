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
The errors that the package raises.

Every message says what was wrong, what was expected, what came, and the way out. The values stand
on the exception as attributes, so that a caller need not parse the text.

"""

from __future__ import annotations

from collections.abc import Iterable


class RobotDynamicsError(Exception):
    """Root of all errors of this package."""


class ModelError(RobotDynamicsError):
    """A robot model is not usable as asked."""


class UrdfError(ModelError):
    """
    A robot description is refused.

    Attributes
    ----------
    findings : tuple
        The `Finding` objects that led to the refusal, when the file could be read that far.

    """

    def __init__(self, message: str, findings: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class DimensionError(RobotDynamicsError):
    """
    An array has the wrong shape.

    Attributes
    ----------
    name : str
        Name of the argument.
    expected, got : tuple of int
        The two shapes.

    """

    def __init__(self, name: str, expected: tuple[int, ...], got: tuple[int, ...]) -> None:
        super().__init__(f'{name} has shape {got}, expected {expected}')
        self.name = name
        self.expected = expected
        self.got = got


class NonFiniteError(RobotDynamicsError):
    """
    A number is NaN or infinite where a finite one is needed.

    Attributes
    ----------
    name : str
        Name of the argument or quantity.

    """

    def __init__(self, name: str, detail: str = '') -> None:
        super().__init__(f'{name} holds a number that is not finite{detail}')
        self.name = name


class NotNumericError(RobotDynamicsError, ValueError):
    """
    Something is not made of real numbers: text, complex numbers, rows of different lengths.

    Attributes
    ----------
    name : str
        Name of the argument.

    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f'{name} {detail}, expected real numbers')
        self.name = name


class UnknownNameError(RobotDynamicsError):
    """
    A name is not in the model.

    Attributes
    ----------
    name : str
        The unknown name.
    choices : tuple of str
        The names that exist.

    """

    kind = 'name'

    def __init__(self, name: str, choices: Iterable[str]) -> None:
        self.name = name
        self.choices = tuple(choices)
        shown = ', '.join(self.choices[:12]) + (', ...' if len(self.choices) > 12 else '')
        super().__init__(f"{self.kind} '{name}' is not in the model; it has: {shown or 'none'}")


class UnknownFrameError(UnknownNameError):
    """No frame has this name."""

    kind = 'frame'


class UnknownJointError(UnknownNameError):
    """No joint has this name."""

    kind = 'joint'


class SingularMassMatrixError(RobotDynamicsError):
    """
    Forward dynamics has no unique answer: the mass matrix is singular or indefinite.

    Attributes
    ----------
    joint : str
        Name of the degree of freedom that moves no inertia.

    """

    def __init__(self, joint: str) -> None:
        super().__init__(
            f"forward dynamics is not defined: '{joint}' moves no inertia "
            '(the mass matrix is singular or indefinite there); give its links mass and inertia, '
            'set an armature for it, or lock it'
        )
        self.joint = joint


class ConfigurationError(RobotDynamicsError):
    """A parameter or a configuration file is refused."""


class ForeignFileError(ConfigurationError):
    """A file is none of this package's, so that it must neither be used nor touched."""


class TrajectoryError(RobotDynamicsError):
    """A trajectory cannot be used."""


class BagError(RobotDynamicsError):
    """A log cannot be read or written."""


class OutputError(RobotDynamicsError):
    """A result cannot be written, or would overwrite something without being told."""


class ArmingRefusedError(RobotDynamicsError):
    """A controller does not start to command torque; the message says why and what to do."""

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

r"""
From motors to joints, where each joint has a gear and a wrist couples some of them.

The motors turn with the joints by a constant matrix, and power is the same on both sides:

.. math:: \dot q_m = R\,\dot q, \qquad q = R^{-1} q_m + q_0, \qquad \tau = R^T \tau_m

:math:`R` has the ratios on its diagonal; an entry beside it says that the motor of one joint must
turn along with another joint. A file says it for each joint::

    coupled_gears:
      shoulder: {motor: Joint_1, ratio: 32}
      elbow:    {motor: Joint_2, ratio: -45, offset: 1.5708}   # added to the position [rad]
      wrist:    {motor: Joint_3, ratio: 32, turns_with: {elbow: 32}}

``torque_constant`` [N m/A] belongs there if currents of the motors were recorded, not torques.

References
----------
.. [1] W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002, section 9.4
   (coupled joints).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.drive.strict_yaml import check_keys, check_number, read_mapping
from robot_dynamics_ros.core.exceptions import ConfigurationError

_OPTIONAL = ('offset', 'turns_with', 'torque_constant')


@dataclass(frozen=True)
class CoupledGears:
    """
    Linear map between motors and joints.

    Attributes
    ----------
    motor_names, joint_names : tuple of str
        In the same order: motor i drives joint i.
    ratios : ndarray, shape (n, n)
        Velocities of the motors over those of the joints, rows by motor.
    offset : ndarray, shape (n,)
        Positions of the joints where all motors are at zero [rad | m].
    torque_constants : ndarray, shape (n,)
        Torque of a motor over what was recorded [N m/A, or 1].

    Raises
    ------
    DimensionError, NonFiniteError, NotNumericError
        If an array has not these shapes or is not finite.
    ConfigurationError
        If the ratios cannot be inverted, or a constant is zero.

    """

    motor_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    ratios: Matrix
    offset: Vector
    torque_constants: Vector

    def __post_init__(self) -> None:
        n = len(self.joint_names)
        for name, shape in (('ratios', (n, n)), ('offset', (n,)), ('torque_constants', (n,))):
            value = as_finite(name, getattr(self, name), shape)
            object.__setattr__(self, name, frozen(value))
        if np.linalg.matrix_rank(self.ratios) < n:
            raise ConfigurationError('the ratios of coupled gears cannot be inverted')
        if np.any(self.torque_constants == 0.0):
            raise ConfigurationError('a torque constant of coupled gears is 0')

    @property
    def inverse(self) -> Matrix:
        """Return velocities of the joints over those of the motors, rows by joint."""
        return np.linalg.inv(self.ratios).astype(np.float64)

    def position(self, motor_position: Matrix) -> Matrix:
        """Return positions of the joints, (n_samples, n) from those of the motors."""
        return _mapped(self.inverse, motor_position) + self.offset

    def velocity(self, motor_velocity: Matrix) -> Matrix:
        """Return velocities of the joints, (n_samples, n) from those of the motors."""
        return _mapped(self.inverse, motor_velocity)

    def effort(self, motor_effort: Matrix) -> Matrix:
        """Return torques of the joints [N m | N], (n_samples, n) from what motors recorded."""
        return _mapped(self.ratios.T * self.torque_constants, motor_effort)


def read_coupled_gears(path: str | Path) -> CoupledGears:
    """
    Read the gears of a robot from a YAML file, see the top of this module.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, a key is unknown or missing, or a value is refused; one line.

    """
    where = f'gear file {path}'
    entries = {str(name): entry for name, entry in read_mapping(path, 'coupled_gears').items()}
    names = tuple(entries)
    ratios, offset = np.zeros((len(names), len(names))), np.zeros(len(names))
    constants = np.ones(len(names))
    motors = []
    for i, (name, entry) in enumerate(entries.items()):
        here = f"{where}: joint '{name}'"
        entry = check_keys(here, entry, ('motor', 'ratio'), _OPTIONAL)
        motors.append(str(entry['motor']))
        ratios[i, i] = check_number(here, 'ratio', entry['ratio'])
        offset[i] = check_number(here, 'offset', entry.get('offset', 0.0))
        constants[i] = check_number(here, 'torque_constant', entry.get('torque_constant', 1.0))
        for other, value in _couplings(here, entry.get('turns_with', {}), names).items():
            ratios[i, names.index(other)] += value
    if twice := sorted({motor for motor in motors if motors.count(motor) > 1}):
        raise ConfigurationError(f'{where}: motor {", ".join(twice)} drives two joints')
    try:
        return CoupledGears(tuple(motors), names, ratios, offset, constants)
    except ConfigurationError as error:
        raise ConfigurationError(f'{where}: {error}') from error


def _couplings(where: str, entry: object, names: Sequence[str]) -> dict[str, float]:
    if not isinstance(entry, dict):
        raise ConfigurationError(f'{where}: turns_with is {entry!r}, expected joint: ratio')
    for other in entry:
        if other not in names:
            raise ConfigurationError(
                f"{where}: turns_with names '{other}'; there are: {', '.join(names)}"
            )
    return {
        str(other): check_number(where, f'turns_with {other}', value)
        for other, value in entry.items()
    }


def _mapped(matrix: Matrix, values: Matrix) -> Matrix:
    """Return values @ matrix.T, where a NaN only spoils what depends on it."""
    result = np.zeros((len(values), len(matrix)))
    for row, column in zip(*np.nonzero(matrix)):
        result[:, row] += matrix[row, column] * values[:, column]
    return result

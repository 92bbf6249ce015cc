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

"""What `robot_dynamics payload` shows and writes: a table, JSON, and parameters for the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
import json
import math
from pathlib import Path
from typing import Any

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.covariance import TWO_SIDED_95
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.payload_fit import DETERMINED, PayloadFit, QUANTITIES
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.table import Cell, format_percent, format_table
from robot_dynamics_ros.tools.joint_matching import MatchedJoints

UNITS = ('kg', 'm', 'm', 'm', *6 * ('kg m^2',))


@dataclass(frozen=True)
class PayloadRun:
    """
    One identified payload, with all that its report tells.

    Attributes
    ----------
    loaded, unloaded : tuple of str
        The logs with and without it.
    urdf : str
        The description of the arm.
    matched : MatchedJoints
        The model and how its joints were matched.
    cutoffs : CutoffChoice
        Of the filters.
    standstill : float
        Slower joints were left out [rad/s | m/s].
    still : tuple of str
        Joints that were left out all the time.
    found : PayloadFit
        The result.
    notes : tuple of str
        What a reader should know.
    command : str
        The command line, for the record.

    """

    loaded: tuple[str, ...]
    unloaded: tuple[str, ...]
    urdf: str
    matched: MatchedJoints
    cutoffs: CutoffChoice
    standstill: float
    still: tuple[str, ...]
    found: PayloadFit
    notes: tuple[str, ...]
    command: str

    @property
    def arm(self) -> str:
        """Return what the arm is known from."""
        return ', '.join(self.unloaded) or self.urdf


def write_payload(folder: str | Path, run: PayloadRun, *, overwrite: bool = False) -> list[str]:
    """
    Write ``payload.yaml`` and ``report.json``, both or neither.

    Returns
    -------
    names : list of str
        What was written, in the folder.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    with staged_directory(folder, overwrite=overwrite) as staging:
        write_text(staging / 'payload.yaml', parameter_file_text(run))
        report = json.dumps(as_dict(run), indent=2, allow_nan=False)
        write_text(staging / 'report.json', report + '\n')
        return sorted(entry.name for entry in staging.iterdir())


def parameter_file_text(run: PayloadRun) -> str:
    """Return the payload as a parameter file of ROS 2 that fits every node."""
    found = run.found
    values = found.values.tolist()
    guessed = ', '.join(found.undetermined)
    lines = [
        f'# Payload identified from {", ".join(run.loaded)}',
        f'# against {run.arm}.',
        *([f'# The motion does not show {guessed}: a guess.'] if guessed else []),
        '/**:',
        '  ros__parameters:',
        '    payload:',
        f'      mass: {_number(values[0])}  # [kg]',
        f'      frame: {json.dumps(found.payload.frame, ensure_ascii=False)}',
        f'      com: {_numbers(values[1:4])}  # [m]',
        '      # ixx, ixy, ixz, iyy, iyz, izz about the centre of mass [kg m^2]',
        f'      inertia: {_numbers(values[4:])}',
    ]
    return '\n'.join(lines) + '\n'


def as_dict(run: PayloadRun) -> dict[str, Any]:
    """Return the report as plain values for JSON."""
    found = run.found
    joints = run.matched.model.v_names
    quantities = zip(QUANTITIES, UNITS, *_columns(found))
    condition = float(found.condition)
    return {
        'command': run.command,
        'loaded': list(run.loaded),
        'unloaded': list(run.unloaded),
        'urdf': str(run.urdf),
        'model': run.matched.model.name,
        'joint_names': list(joints),
        'locked': dict(run.matched.locked),
        'gravity': run.matched.model.gravity.tolist(),
        'frame': found.payload.frame,
        'filter': {'kind': 'zero-phase Butterworth', 'order': 4, **asdict(run.cutoffs)},
        'standstill': run.standstill,
        'quantities': {
            name: {
                'unit': unit,
                'value': value,
                'deviation': deviation,
                'share_of_prior': share,
                'is_shown': share <= DETERMINED,
            }
            for name, unit, value, deviation, share in quantities
        },
        'not_shown': list(found.undetermined),
        'linear': {
            'parameters': found.linear.tolist(),
            'deviation': found.deviation.tolist(),
        },
        'covariance': found.covariance.tolist(),
        'condition': condition if math.isfinite(condition) else None,
        'correlation_time': found.correlation_time,
        'errors': {
            'with_payload': _of_moving(run, found.errors),
            'without_payload': _of_moving(run, found.errors_without),
            'deviation': _of_moving(run, found.spread),
        },
        'node_parameters': found.node_parameters(),
        'notes': list(run.notes),
    }


def summary(run: PayloadRun) -> str:
    """Return the text that is printed."""
    found = run.found
    guessed = ', '.join(found.undetermined)
    lines = [
        f'loaded    {", ".join(run.loaded)}',
        f'arm       {run.arm}',
        f'filter    {run.cutoffs.cutoff:.3g} Hz ({run.cutoffs.reason}); joints slower than '
        f'{run.standstill:g} rad/s are left out',
        f'fit       errors correlated over {found.correlation_time:.2g} s; intervals say nothing '
        'of friction that the model lacks',
        *(f'note      {note}' for note in run.notes),
        *([f'note      always at rest, not fitted: {", ".join(run.still)}'] if run.still else []),
        '',
        _quantity_table(found),
        *([f'not shown by this motion, a guess: {guessed}'] if guessed else []),
        '',
        _error_table(run),
    ]
    if run.command:
        lines += ['', f'again with: {run.command}']
    return '\n'.join(lines)


def _columns(found: PayloadFit) -> tuple[list[float], list[float], list[float]]:
    return found.values.tolist(), found.value_deviation.tolist(), found.share.tolist()


def _of_moving(run: PayloadRun, values: Vector) -> dict[str, float | None]:
    """Return values of joints by name; None for those that were left out."""
    pairs = zip(run.matched.model.v_names, values.tolist())
    return {joint: None if joint in run.still else value for joint, value in pairs}


def _quantity_table(found: PayloadFit) -> str:
    rows: list[list[Cell]] = [
        [name, f'{value:.4g}', f'{TWO_SIDED_95 * sigma:.2g}', unit, _shown(share)]
        for name, unit, value, sigma, share in zip(QUANTITIES, UNITS, *_columns(found))
    ]
    headers = ['quantity', 'value', '+- (95 %)', 'unit', 'from']
    title = f'Payload in {found.payload.frame}; inertia about its centre of mass'
    return format_table(headers, rows, title=title, right=headers[1:3])


def _shown(share: float) -> str:
    return 'motion' if share <= DETERMINED else 'guess'


def _error_table(run: PayloadRun) -> str:
    found = run.found
    before, after = _of_moving(run, found.errors_without), _of_moving(run, found.errors)
    rows: list[list[Cell]] = [
        [joint, format_percent(before[joint]), format_percent(after[joint])] for joint in before
    ]
    headers = ['joint', 'without payload', 'with it']
    title = 'Errors of the efforts that are fitted, relative to them'
    return format_table(headers, rows, title=title, right=headers[1:])


def _number(value: float) -> str:
    """Return a number that YAML reads as a double: with a point."""
    text = f'{value:.12g}'
    mantissa, exponent, power = text.partition('e')
    return (mantissa if '.' in mantissa else f'{mantissa}.0') + exponent + power


def _numbers(values: Sequence[float]) -> str:
    return f'[{", ".join(map(_number, values))}]'

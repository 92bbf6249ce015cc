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

"""What `robot_dynamics identify` shows and writes: a summary, JSON, URDF and friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
import json
import math
from pathlib import Path
import re
from typing import Any

from robot_dynamics_ros.core.identification.covariance import TWO_SIDED_95
from robot_dynamics_ros.core.identification.identification import Identification
from robot_dynamics_ros.core.identification.identification_model import linear_joints
from robot_dynamics_ros.core.identification.identified_model import (
    friction_file_text,
    IdentifiedModel,
)
from robot_dynamics_ros.core.identification.verdict import Verdict
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf_gate import parse_xml
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf
from robot_dynamics_ros.core.model.xacro_source import expand_xacro, is_xacro
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.identification_page import identification_page
from robot_dynamics_ros.report.parameter_entries import parameter_entries
from robot_dynamics_ros.report.table import Cell, format_percent, format_table
from robot_dynamics_ros.tools.joint_matching import MatchedJoints


@dataclass(frozen=True)
class IdentifyRun:
    """
    One finished identification, with all that its report tells.

    Attributes
    ----------
    bags : tuple of str
    urdf : str
        The inputs.
    training, held_out : tuple of dict
        Which parts of which bags.
    matched : MatchedJoints
        The model and how its joints were matched.
    found : Identification
        The result.
    identified : IdentifiedModel
        What is written of it.
    verdict : Verdict
        Of the model as it is written.
    is_forced : bool
        Whether a model that is not usable is written all the same.
    notes : tuple of str
        What a reader should know.
    command : str
        The command line, for the record.

    """

    bags: tuple[str, ...]
    urdf: str
    training: tuple[dict[str, Any], ...]
    held_out: tuple[dict[str, Any], ...]
    matched: MatchedJoints
    found: Identification
    identified: IdentifiedModel
    verdict: Verdict
    is_forced: bool
    notes: tuple[str, ...]
    command: str

    @property
    def is_written(self) -> bool:
        """Whether URDF and friction file are written."""
        return self.verdict.is_fit or self.is_forced

    @property
    def headline(self) -> str:
        """Return the verdict in one line."""
        if self.verdict.is_fit:
            return 'FIT FOR USE: every check passed'
        failed = len(self.verdict.reasons)
        return f'UNFIT: {failed} of {len(self.verdict.checks)} checks failed'


def urdf_text(path: str, xacro_args: Mapping[str, str], identified: IdentifiedModel) -> str:
    """
    Return the URDF with the identified values; xacro is expanded.

    Raises
    ------
    UrdfError
        If the source is refused.
    ModelError
        If a value is not possible.

    """
    source = read_source(Path(path))
    text = source.text
    if is_xacro(source, parse_xml(text, source.name)):
        text = expand_xacro(source, xacro_args)
    return rewrite_urdf(
        text,
        inertials=identified.inertials,
        damping=identified.damping,
        friction=identified.friction,
    )


def write_results(
    folder: str | Path,
    run: IdentifyRun,
    urdf: str,
    *,
    overwrite: bool = False,
) -> list[str]:
    """
    Write the results, all or nothing; of a model that is refused only the reports.

    Returns
    -------
    names : list of str
        What was written, in the folder.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    mark = '' if run.verdict.is_fit else '\n'.join([run.headline, *run.verdict.reasons])
    with staged_directory(folder, overwrite=overwrite) as staging:
        write_text(
            staging / 'report.json', json.dumps(as_dict(run), indent=2, allow_nan=False) + '\n'
        )
        if run.is_written:
            comment = f'\n<!-- {_without_double_hyphens(mark)} -->\n' if mark else ''
            write_text(staging / 'identified.urdf', _as_utf8(urdf) + comment)
            heading = '\n'.join([f'Identified from {", ".join(run.bags)}', *mark.splitlines()])
            write_text(staging / 'friction.yaml', friction_file_text(run.identified, heading))
            write_text(staging / 'node_parameters.yaml', node_parameter_text(run, heading))
        identification_page(
            staging,
            run.found,
            run.verdict,
            run.identified,
            training=run.found.series[0],
            held_out=run.found.series[1],
            title=f'Identified model of {run.matched.model.name}',
            facts=_facts(run),
            notes=run.notes,
            units=effort_units(run.found.model.robot),
        )
        return sorted(entry.name for entry in staging.iterdir())


def node_parameter_text(run: IdentifyRun, heading: str = '') -> str:
    """Return what the other files do not hold, as a parameter file that fits every node."""
    robot = run.found.model.robot
    armature = [run.identified.armature[joint] for joint in robot.v_names]
    values: dict[str, Any] = {
        'joints': list(robot.v_names),
        'armature': armature if any(armature) else None,
        'gravity': robot.gravity.tolist(),
        'locked_joints': list(run.matched.locked) or None,
        'locked_positions': [float(value) for value in run.matched.locked.values()] or None,
    }
    content = {key: value for key, value in values.items() if value is not None}
    lines = [f'# {line}'.rstrip() for line in heading.splitlines()]
    entries = [
        f'    {key}: [{", ".join(map(_node_value, value))}]' for key, value in content.items()
    ]
    return '\n'.join([*lines, '/**:', '  ros__parameters:', *entries]) + '\n'


def effort_units(robot: RobotModel) -> list[str]:
    """Return the unit of the effort of each degree of freedom."""
    return ['N' if is_linear else 'N m' for is_linear in linear_joints(robot)]


def _facts(run: IdentifyRun) -> dict[str, str]:
    facts = {'command': run.command, 'description': run.urdf}
    for kind, parts in (('training data', run.training), ('held-out data', run.held_out)):
        facts[kind] = '; '.join(_span(part) for part in parts) or 'none'
    facts['gravity'] = ' '.join(f'{value:g}' for value in run.found.model.robot.gravity)
    return facts


def summary(run: IdentifyRun) -> str:
    """Return the text that is printed, the verdict on top."""
    found = run.found
    structure = found.model.structure
    lines = [
        run.headline,
        *(f'  {"ok    " if c.is_passed else "FAILED"} {c.message}' for c in run.verdict.checks),
        '',
        *(f'trained   {_span(part)}' for part in run.training),
        *(f'held out  {_span(part)}' for part in run.held_out),
        f'model     {run.matched.model.name}: {", ".join(found.model.robot.v_names)}',
        f'filter    zero-phase Butterworth, order 4, {found.cutoffs.cutoff:.3g} Hz '
        f'({found.cutoffs.reason}); motion {found.cutoffs.motion_cutoff:.3g} Hz',
        f'friction  {structure.friction}{_chosen(found.structure_errors)}',
        f'fit       {found.options.estimator}, {found.model.base.rank} base parameters of '
        f'{len(found.model.names)}, condition {found.linear.condition:.3g}; errors correlated '
        f'over {found.covariance.correlation_time:.2g} s',
        f'delay     efforts seem to be stamped {1e3 * found.effort_delay:+.1f} ms late'
        f'{_moved(found.options.effort_delay)}',
        f'prior     weight {found.prior_weight:g}{_chosen(found.prior_errors)}',
        *(f'note      {note}' for note in run.notes),
        '',
        _error_table(run),
        '',
        _drive_table(run),
        '',
        _body_table(run),
    ]
    if run.command:
        lines += ['', f'again with: {run.command}']
    return '\n'.join(lines)


def formula_table(run: IdentifyRun) -> str:
    """Return the base parameters with their combinations, values and 95 % intervals."""
    found = run.found
    base = found.model.base
    rows: list[list[Cell]] = [
        [f'{value:.5g}', f'{TWO_SIDED_95 * sigma:.2g}', found.model.units[lead], formula]
        for value, sigma, lead, formula in zip(
            found.consistent.base.tolist(),
            found.covariance.deviation.tolist(),
            base.independent,
            base.formulas(),
        )
    ]
    headers = ['value', '+- (95 %)', 'unit', 'combination']
    title = f'The {base.rank} combinations of {len(base.names)} parameters that efforts determine'
    table = format_table(headers, rows, title=title, right=headers[:2])
    return f'{table}\nwithout effect: {", ".join(base.without_effect) or "none"}'


def as_dict(run: IdentifyRun) -> dict[str, Any]:
    """Return the report as plain values for JSON."""
    found = run.found
    model = found.model
    return {
        'command': run.command,
        'verdict': {
            'is_fit': run.verdict.is_fit,
            'headline': run.headline,
            'is_forced': run.is_forced,
            'checks': [asdict(check) for check in run.verdict.checks],
        },
        'bags': list(run.bags),
        'urdf': str(run.urdf),
        'training': list(run.training),
        'held_out': list(run.held_out),
        'model': run.matched.model.name,
        'joint_names': list(model.robot.v_names),
        'joint_map': dict(run.matched.joint_map),
        'locked': dict(run.matched.locked),
        'gravity': model.robot.gravity.tolist(),
        'filter': {'kind': 'zero-phase Butterworth', 'order': 4, **asdict(found.cutoffs)},
        'structure': {
            **asdict(model.structure),
            'smoothing_velocities': dict(zip(model.robot.v_names, model.velocities)),
            'cross_validation': dict(found.structure_errors),
        },
        'fit': {
            'estimator': found.options.estimator,
            'rank': model.base.rank,
            'condition': _finite(found.linear.condition),
            'error_deviation': dict(zip(model.robot.v_names, found.linear.spread.tolist())),
            'correlation_time': found.covariance.correlation_time,
            'variance_inflation': found.covariance.inflation,
            'standstill': found.options.standstill,
            'effort_delay': {
                'corrected': found.options.effort_delay,
                'estimated_rest': found.effort_delay,
            },
        },
        'prior': {
            'weight': found.prior_weight,
            'cross_validation': {f'{k:g}': value for k, value in found.prior_errors.items()},
        },
        'errors': {
            'training': asdict(found.training),
            'held_out': {
                whose: {against: asdict(value) for against, value in measures.items()}
                for whose, measures in found.held_out.items()
            },
        },
        **parameter_entries(
            model, found.consistent.parameters, found.consistent.base, found.covariance.matrix,
            found.linear.base,
        ),
        'without_effect': list(model.base.without_effect),
        'armature': dict(run.identified.armature),
        'notes': list(run.notes),
    }  # fmt: skip


def _error_table(run: IdentifyRun) -> str:
    held = run.found.held_out
    if not held:
        return 'Nothing was held out: no error on unseen data is known.'
    headers = [
        'joint', 'rms', 'rmse', 'relative', 'R^2', 'raw effort', 'files', 'plain fit',
        'description',
    ]  # fmt: skip
    identified = held['identified']
    others = [
        identified['raw effort'],
        *(held[whose]['filtered'] for whose in ('files', 'plain', 'description')),
    ]
    rows: list[list[Cell]] = []
    for j, joint in enumerate(identified['filtered'].joints):
        rows.append(
            [
                joint.joint,
                f'{joint.rms:.3f}',
                f'{joint.rmse:.3f}',
                format_percent(joint.relative),
                '-' if joint.r_squared is None else f'{joint.r_squared:.4f}',
                *(format_percent(measure.joints[j].relative) for measure in others),
            ]
        )
    total = [format_percent(measure.relative) for measure in others]
    rows.append(
        ['all joints', '', '', format_percent(identified['filtered'].relative), '', *total]
    )
    title = 'Errors on held-out data, both sides filtered [N m | N]'
    return format_table(headers, rows, title=title, right=headers[1:])


def _drive_table(run: IdentifyRun) -> str:
    """Return friction, offset and rotor of every joint, with 95 % intervals where they exist."""
    found = run.found
    model = found.model
    n = model.n_inertial
    place = {name: k for k, name in enumerate(model.base.base_names)}
    rows: list[list[Cell]] = []
    for name, unit, value in zip(
        model.names[n:], model.units[n:], found.consistent.parameters[n:].tolist()
    ):
        interval = '-'
        if name in place:
            interval = f'{TWO_SIDED_95 * found.covariance.deviation[place[name]]:.2g}'
        rows.append([name, f'{value:.4g}', interval, unit])
    headers = ['drive', 'value', '+- (95 %)', 'unit']
    return format_table(headers, rows, title='Friction and rotors', right=headers[1:3])


def _body_table(run: IdentifyRun) -> str:
    model = run.found.model
    n = model.n_inertial
    headers = ['link', 'mass', 'in the URDF', 'x', 'y', 'z']
    rows: list[list[Cell]] = []
    bodies = run.found.consistent.parameters[:n].reshape(-1, 10)
    for name, body, stated in zip(model.robot.body_names, bodies, model.prior[:n].reshape(-1, 10)):
        center = [f'{value / body[0]:+.4f}' for value in body[1:4]]
        rows.append([name, f'{body[0]:.4g}', f'{stated[0]:.4g}', *center])
    title = 'Bodies: mass [kg] and centre of mass [m], fixed links included'
    return format_table(headers, rows, title=title, right=headers[1:])


def _span(part: Mapping[str, Any]) -> str:
    return f'{part["bag"]}, {part["start"]:.4g} to {part["stop"]:.4g} s, {part["samples"]} samples'


def _chosen(errors: Mapping[Any, float]) -> str:
    """Return the errors in cross-validation behind a choice."""
    if not errors:
        return ' (given)'
    text = ', '.join(
        f'{key if isinstance(key, str) else format(key, "g")} {format_percent(error)}'
        for key, error in errors.items()
    )
    return f' (cross-validation: {text})'


def _moved(delay: float) -> str:
    return f' after moving them by {1e3 * delay:g} ms' if delay else ' (--effort-delay corrects)'


def _node_value(value: str | float) -> str:
    """Return a string in quotes, or a number with the point that makes it a double."""
    if isinstance(value, str):
        return json.dumps(value)
    mantissa, exponent, power = repr(float(value)).partition('e')
    return (mantissa if '.' in mantissa else f'{mantissa}.0') + exponent + power


def _without_double_hyphens(text: str) -> str:
    """Return text that may stand in an XML comment."""
    return re.sub('-(?=-)', '- ', text)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _as_utf8(text: str) -> str:
    """Return the text with the encoding that its XML declaration names set to UTF-8."""
    head, end, rest = text.partition('?>')
    if not end or not head.lstrip().startswith('<?xml'):
        return text
    return '<?xml version="1.0" encoding="UTF-8"?>' + rest

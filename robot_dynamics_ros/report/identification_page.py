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
The page that tells an engineer what came out of an identification, and whether to use it.

The verdict comes first, then what it rests on, then the numbers, then what could not be found.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.identification.covariance import TWO_SIDED_95
from robot_dynamics_ros.core.identification.effort_series import EffortSeries
from robot_dynamics_ros.core.identification.identification import Identification
from robot_dynamics_ros.core.identification.identified_model import (
    IdentifiedModel,
    inertial_of_parameters,
)
from robot_dynamics_ros.core.identification.possible_bodies import SIZE
from robot_dynamics_ros.core.identification.verdict import Verdict
from robot_dynamics_ros.core.model.description import Inertial
from robot_dynamics_ros.report.html_page import HtmlPage
from robot_dynamics_ros.report.identification_plots import plot_effort_series, plot_friction
from robot_dynamics_ros.report.table import Cell, format_percent

VAGUE = 0.3
"""Standard deviation, as part of the value, from which a parameter is called vague."""

MOST_PICTURES = 6
"""Logs of each kind whose efforts are drawn: a page of hundreds could not be opened."""

_GUIDE = (
    ('Held-out data', 'were neither fitted nor used to choose anything. Only their errors tell '
     'how the model will do tomorrow; those of the training data are always smaller.'),
    ('Relative error', 'is the root mean square of what the model leaves, over that of the '
     'measured effort. Arms with torque sensors reach 1 to 3 %, arms whose efforts come from '
     'motor currents 4 to 8 %.'),
    ('Plain fit and identified model', 'The plain fit is the best one whether such bodies exist '
     'or not. The identified model has bodies that exist; what that costs shows in the errors.'),
    ('Files', 'is the identified model as far as URDF and friction file hold it, with the rotor '
     'inertias: they have no constant effort at rest, none beyond the Coulomb level, and no motor '
     'that turns with two joints. The verdict is about these.'),
    ('Base parameters', 'are the combinations that the efforts depend on. A single mass or '
     'length that stands only in sums cannot be known, by any method; the written values of '
     'those are the ones nearest to the description.'),
    ('Intervals', 'hold the true value in 95 of 100 repetitions if the model has the right '
     'terms. They allow for errors that are alike from sample to sample, and not for terms that '
     'the model lacks.'),
    ('Before torque goes to the arm', 'start the nodes with the watchdog, at reduced speed, and '
     'compare efforts with `robot_dynamics replay` on a new log.'),
)  # fmt: skip


def identification_page(
    folder: Path,
    found: Identification,
    verdict: Verdict,
    written: IdentifiedModel,
    *,
    training: Sequence[EffortSeries],
    held_out: Sequence[EffortSeries],
    title: str,
    facts: Mapping[str, str],
    notes: Iterable[str] = (),
    units: Sequence[str] = (),
) -> None:
    """
    Draw the pictures into ``plots`` and write the page ``report.html`` into a folder.

    Parameters
    ----------
    folder : Path
        A folder that is being made.
    found : Identification
        What was found.
    verdict : Verdict
        What it is worth.
    written : IdentifiedModel
        What was written of it.
    training, held_out : sequence of EffortSeries
        Efforts of the logs.
    title : str
        Heading.
    facts : mapping of str to str
        How it was made, the command line among them.
    notes : iterable of str
        What else a reader should know, one sentence each.
    units : sequence of str
        Unit of the efforts of each joint; ``N m`` by default.

    Raises
    ------
    OutputError
        If a file cannot be written.

    """
    (folder / 'plots').mkdir(exist_ok=True)
    units = tuple(units) or ('N m',) * found.model.robot.nv
    page = HtmlPage(title)
    _add_verdict(page, verdict)
    _add_errors(page, found, units)
    _add_efforts(page, folder, found, training, held_out, units)
    _add_friction(page, folder, found, written, [*training, *held_out], units)
    _add_bodies(page, found)
    _add_parameters(page, found)
    _add_unknown(page, found)
    page.add_heading('How it was made')
    page.add_table(['', ''], _made(found, facts))
    for note in (*notes, *written.notes):
        page.add_note(note)
    page.add_heading('How to read this')
    for term, text in _GUIDE:
        page.add_markup(f'<p><b>{escape(term)}</b> {escape(text)}</p>')
    page.write(folder / 'report.html')


def _add_verdict(page: HtmlPage, verdict: Verdict) -> None:
    if verdict.is_fit:
        page.add_badge('This model may be used: it passed every check.', is_good=True)
    else:
        page.add_badge('Do not use this model on a robot: it failed a check.', is_good=False)
    failed = [k for k, check in enumerate(verdict.checks) if not check.is_passed]
    order = [*failed, *(k for k in range(len(verdict.checks)) if k not in failed)]
    page.add_table(
        ['check', '', 'what was found'],
        [
            (check.name, 'passed' if check.is_passed else 'FAILED', check.message)
            for check in (verdict.checks[k] for k in order)
        ],
        marked=range(len(failed)),
    )


def _add_errors(page: HtmlPage, found: Identification, units: Sequence[str]) -> None:
    page.add_heading('Errors on held-out data')
    if not found.held_out:
        page.add_note('No data were held out: nothing here tells how the model will do.')
        return
    filtered = {whose: measures['filtered'] for whose, measures in found.held_out.items()}
    rows: list[list[Cell]] = []
    for j, joint in enumerate(filtered['identified'].joints):
        others = [format_percent(filtered[whose].joints[j].relative) for whose in filtered]
        rows.append([joint.joint, joint.rms, joint.rmse, units[j], *others, joint.r_squared])
    overall: list[Cell] = [format_percent(measure.relative) for measure in filtered.values()]
    rows.append(['all', None, None, None, *overall, None])
    page.add_table(
        ['joint', 'effort, rms', 'error, rms', '', *filtered, 'R\u00b2 of identified'],
        rows,
        marked=[len(rows) - 1],
    )
    measures = found.held_out['identified']
    page.add_note(
        'Both sides filtered alike. '
        + '; '.join(
            f'against the {name} {format_percent(measure.relative)}'
            for name, measure in measures.items()
            if name != 'filtered'
        )
        + f'. On the training data: {format_percent(found.training.relative)}.'
    )


def _add_efforts(
    page: HtmlPage,
    folder: Path,
    found: Identification,
    training: Sequence[EffortSeries],
    held_out: Sequence[EffortSeries],
    units: Sequence[str],
) -> None:
    names = found.model.robot.v_names
    for kind, series in (('held-out', held_out), ('training', training)):
        for number, log in enumerate(series[:MOST_PICTURES], start=1):
            path = folder / 'plots' / f'efforts_{kind}_{number}.png'
            measures = ()
            if len(series) == 1:
                whole = found.training
                if kind == 'held-out' and found.held_out:
                    whole = found.held_out['identified']['filtered']
                measures = whole.joints
            plot_effort_series(
                path, log, names, measures=measures, units=units,
                title=f'Efforts of the {kind} data', subtitle=log.name,
            )  # fmt: skip
            page.add_heading(f'Efforts of the {kind} data: {log.name}')
            page.add_picture(path, f'efforts of each joint over time, {kind} data')
        if len(series) > MOST_PICTURES:
            page.add_note(f'{len(series) - MOST_PICTURES} more logs of {kind} data are not drawn.')


def _add_friction(
    page: HtmlPage,
    folder: Path,
    found: Identification,
    written: IdentifiedModel,
    series: Sequence[EffortSeries],
    units: Sequence[str],
) -> None:
    page.add_heading('Friction and rotors')
    names = found.model.robot.v_names
    joints = [written.joint_friction[name] for name in names]
    page.add_table(
        ['joint', 'viscous', 'Coulomb +', 'Coulomb -', 'smoothing velocity', 'rotor inertia'],
        [
            (name, f.viscous, f.coulomb_positive, f.coulomb_negative, f.smoothing_velocity,
             written.armature[name])
            for name, f in zip(names, joints)
        ],
    )  # fmt: skip
    path = folder / 'plots' / 'friction.png'
    friction = written.friction_model
    speeds = np.max([log.largest_speed for log in series], axis=0)
    plot_friction(path, friction, speeds.tolist(), units=units)
    page.add_picture(path, 'friction of each joint over its speed')


def _add_bodies(page: HtmlPage, found: Identification) -> None:
    model = found.model
    n = model.n_inertial
    bodies = found.consistent.parameters[:n].reshape(-1, SIZE)
    described = model.prior[:n].reshape(-1, SIZE)
    rows: list[list[Cell]] = []
    for name, body, prior in zip(model.robot.body_names, bodies, described):
        for label, inertial in (
            (name, inertial_of_parameters(body)),
            ('described', inertial_of_parameters(prior)),
        ):
            rows.append([label, *_inertial_cells(inertial)])
    page.add_heading('Bodies')
    page.add_table(
        [
            'body',
            'mass [kg]',
            'x [m]',
            'y [m]',
            'z [m]',
            'principal inertias [kg m\u00b2]',
            '',
            '',
        ],
        rows,
    )
    page.add_note(
        'Centre of mass in the frame of the link, inertias about it. Only the combinations below '
        'are known from the data; the rest is kept near the description.'
    )


def _inertial_cells(inertial: Inertial) -> list[Cell]:
    principal = np.linalg.eigvalsh(inertial.inertia)
    return [inertial.mass, *inertial.com.tolist(), *principal.tolist()]


def _add_parameters(page: HtmlPage, found: Identification) -> None:
    base = found.model.base
    units = [found.model.units[k] for k in base.independent]
    described = base.to_base(found.model.prior)
    half = TWO_SIDED_95 * found.covariance.deviation
    rows: list[list[Cell]] = [
        [formula, unit, prior, identified, plain, f'\u00b1 {wide:.2g}']
        for formula, unit, prior, identified, plain, wide in zip(
            base.formulas(4), units, described, found.consistent.base, found.linear.base, half
        )
    ]
    page.add_heading(f'The {base.rank} base parameters')
    page.add_table(
        ['combination', 'unit', 'described', 'identified', 'plain fit', '95 %'],
        rows,
        marked=_vague(found),
    )
    page.add_note(
        f'Marked: known to worse than {100.0 * VAGUE:g} %. Errors are alike for '
        f'{found.covariance.correlation_time:.3g} s: the variances are '
        f'{found.covariance.inflation:.3g} times those of independent errors.'
    )


def _vague(found: Identification) -> list[int]:
    deviation = found.covariance.deviation
    return np.flatnonzero(deviation > VAGUE * np.abs(found.linear.base)).tolist()


def _add_unknown(page: HtmlPage, found: Identification) -> None:
    base = found.model.base
    page.add_heading('What could not be identified')
    alone = set(base.alone)
    hidden = set(base.without_effect)
    summed = [name for name in base.names if name not in alone and name not in hidden]
    vague = [base.base_names[k] for k in _vague(found)]
    for text, names in (
        ('No effort depends on', base.without_effect),
        ('Known only in combinations', summed),
        ('Vague in these data; a motion that excites them more would help', vague),
    ):
        if names:
            page.add_markup(
                f'<p><b>{escape(text)}</b> ({len(names)} of {len(base.names)}): '
                f'{escape(", ".join(names))}</p>'
            )


def _made(found: Identification, facts: Mapping[str, str]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = [(name, text) for name, text in facts.items()]
    structure = found.model.structure
    rows += [
        ('filter', found.cutoffs.reason),
        ('friction', f'{structure.friction}' + _compared(found.structure_errors)),
        ('estimator', found.options.estimator),
        ('weight of the description', f'{found.prior_weight:.3g}' + _compared(found.prior_errors)),
        ('condition number', f'{found.linear.condition:.4g}'),
        (
            'delay of the efforts',
            f'{1e3 * found.options.effort_delay:.1f} ms made good, '
            f'{1e3 * found.effort_delay:+.1f} ms late seem to be left',
        ),
    ]
    return rows


def _compared(errors: Mapping[str, float] | Mapping[float, float]) -> str:
    if not errors:
        return ''
    listed = ', '.join(
        f'{key if isinstance(key, str) else format(key, ".3g")} {100.0 * value:.3g} %'
        for key, value in errors.items()
    )
    return f'; errors in cross-validation: {listed}'

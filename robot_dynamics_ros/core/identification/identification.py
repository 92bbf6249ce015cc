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
From logs to a verified model: the whole identification, in order.

1. The cutoffs come from the spectrum of the training motion, or from the user.
2. Motion and efforts are filtered, differentiated and decimated (`joint_samples`), and the
   regression is set up with both sides filtered alike (`regression_rows`).
3. Form and width of the friction and the weight of the prior are chosen by cross-validation on
   contiguous folds of the training data (`cross_validation`).
4. A linear fit, robust by default, gives weights and uncertainties (`least_squares`,
   `covariance`); a physically consistent fit gives the model (`consistent_fit`).
5. Data that took no part in any of this are predicted, by the model, by the plain fit and by the
   description (`verdict`).

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit, ConsistentFit
from robot_dynamics_ros.core.identification.covariance import base_covariance, BaseCovariance
from robot_dynamics_ros.core.identification.cross_validation import (
    candidates_of,
    choose_prior_weight,
    choose_structure,
    Folds,
    StructureChoice,
)
from robot_dynamics_ros.core.identification.effort_delay import effort_delay
from robot_dynamics_ros.core.identification.effort_series import EffortSeries, series_of_rows
from robot_dynamics_ros.core.identification.effort_sums import summed
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.gravity_direction import gravity_errors
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.identification.joint_record import (
    JointRecord,
    prepared_record,
    RecordSource,
    RecordSpan,
)
from robot_dynamics_ros.core.identification.least_squares import (
    huber_least_squares,
    LinearFit,
    one_more_round,
    ordinary_least_squares,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.log_parts import (
    damped_part,
    held_out_part,
    HeldOutPart,
    training_part,
    TrainingPart,
)
from robot_dynamics_ros.core.identification.regression_rows import (
    regression_rows,
    RegressionRows,
)
from robot_dynamics_ros.core.identification.sample_stream import LogFilter, record_cutoffs
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)
from robot_dynamics_ros.core.identification.verdict import (
    check_bodies,
    check_condition,
    check_cost,
    check_delay,
    check_files,
    check_friction,
    check_gravity,
    check_held_out,
    check_joints,
    check_mass,
    check_mass_matrix,
    check_minimum,
    check_motion,
    check_signs,
    Measure,
    measured_agreement,
    Verdict,
)
from robot_dynamics_ros.core.identification.written_efforts import ModelWithFileFriction
from robot_dynamics_ros.core.model.robot_model import RobotModel

__all__ = [
    'ESTIMATORS',
    'Identification',
    'IdentificationOptions',
    'JointRecord',
    'Work',
    'identify',
    'prepared_record',
    'verdict_of',
]

ESTIMATORS = ('huber', 'wls', 'ols')

MOST_ROWS = 40_000
"""Rows of all logs together that are kept for what looks at single errors."""

FEWEST_ROWS = 400
"""Of a log that keeps some: below it, other logs keep theirs."""

ROUNDING = 1e-9
"""Of efforts, relative to them: what varies by less is constant."""

Work = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""Does something with each item, as `map` does: in this order, maybe in other processes."""


@dataclass(frozen=True)
class IdentificationOptions:
    """
    Choices of the user.

    Attributes
    ----------
    friction : str
        ``auto``, or one of the forms of `ModelStructure`.
    offset, rotor_inertia : bool
        See `ModelStructure`.
    couplings : tuple of Coupling
        See `ModelStructure`.
    cutoff : float or None
        Of the filter [Hz]; None chooses it.
    estimator : str
        ``huber``, ``wls`` or ``ols``.
    prior_weight : float or None
        Of the description; None chooses it.
    standstill : float
        Slower joints are left out of the fit [rad/s | m/s].
    effort_delay : float
        Efforts are stamped so much too late, and are moved back [s].

    """

    friction: str = 'auto'
    offset: bool = True
    rotor_inertia: bool = True
    couplings: tuple[Coupling, ...] = ()
    cutoff: float | None = None
    estimator: str = 'huber'
    prior_weight: float | None = None
    standstill: float = 0.0
    effort_delay: float = 0.0


@dataclass(frozen=True, eq=False)
class Identification:
    """
    A finished identification.

    Attributes
    ----------
    model : IdentificationModel
        What was fitted.
    options : IdentificationOptions
    cutoffs : CutoffChoice
    linear : LinearFit
        The plain fit.
    covariance : BaseCovariance
        Of the plain fit.
    consistent : ConsistentFit
        The model.
    prior_weight : float
    structure_errors, prior_errors : mapping
        Relative errors in cross-validation of what was compared; empty where nothing was.
    training : Measure
        Of the model on the training data, both sides filtered.
    held_out : mapping of str to mapping of str to Measure
        For ``identified``, ``plain``, ``description`` and ``files`` (the identified model as far
        as URDF and friction file hold it, with the rotors): against the efforts with both sides
        filtered (``filtered``), the filtered efforts (``filtered effort``), and the efforts as
        they are (``raw effort``). Empty without held-out data.
    effort_delay : float
        By how much the efforts still seem to be stamped too late [s].
    delay_share : float
        Part of the errors that would be left without that delay.
    gravity_errors : mapping of tuple to float
        Error of a fit under each direction of gravity.
    efforts : tuple of ndarray
        Filtered efforts of the held-out (or else training) rows: by the description and measured.
    spans : tuple of tuple of RecordSpan
        What was fitted, and what was held out.
    series : tuple of tuple of EffortSeries
        Of the same.
    notes : tuple of str
        Of the logs.

    """

    model: IdentificationModel
    options: IdentificationOptions
    cutoffs: CutoffChoice
    linear: LinearFit
    covariance: BaseCovariance
    consistent: ConsistentFit
    prior_weight: float
    structure_errors: Mapping[str, float]
    prior_errors: Mapping[float, float]
    training: Measure
    held_out: Mapping[str, Mapping[str, Measure]]
    effort_delay: float
    delay_share: float
    gravity_errors: dict[tuple[float, ...], float]
    efforts: tuple[Matrix, Matrix]
    spans: tuple[tuple[RecordSpan, ...], tuple[RecordSpan, ...]]
    series: tuple[tuple[EffortSeries, ...], tuple[EffortSeries, ...]]
    notes: tuple[str, ...]


def identify(
    robot: RobotModel,
    training: Sequence[RecordSource],
    held_out: Sequence[RecordSource],
    options: IdentificationOptions | None = None,
    *,
    cutoffs: CutoffChoice | None = None,
    work: Work = map,
    advance: Callable[[str], None] | None = None,
) -> Identification:
    """
    Identify a robot.

    Memory grows neither with the number of logs nor, but for 8 bytes of each sample's stamp, with
    their length: of each one only what `log_parts` says is kept.

    Parameters
    ----------
    robot : RobotModel
        The prior, with the joints of the logs in their order, without payload.
    training : sequence of RecordSource
        Data to choose and fit with: a `JointRecord`, or where to read one.
    held_out : sequence of RecordSource
        Data to judge with; nothing else is done with them.
    options : IdentificationOptions, optional
        Choices.
    cutoffs : CutoffChoice, optional
        What `training_cutoffs` returns, where it is known already.
    work : callable, optional
        Does the work on each log; by default one after the other, here.
    advance : callable, optional
        Called with the name of each step before it begins, for a progress display.

    Raises
    ------
    BagError
        If a log cannot be read.
    ConfigurationError
        If an option is unknown, or a log is too short or does not move.
    ModelError
        If a joint has several coordinates, or the robot carries a payload.
    DimensionError, NonFiniteError
        If a log does not suit the robot or holds no finite positions.

    """
    options = options or IdentificationOptions()
    tell = advance or (lambda name: None)
    _check_options(robot, options)
    tell('filtering')
    longest = max(training, key=lambda source: source.expected_samples)
    cutoffs = cutoffs or training_cutoffs(longest, robot, options)
    how = LogFilter(cutoffs, options.standstill, options.effort_delay)
    tell('choosing the friction')
    candidates, forms = _candidates(robot, options)
    parts: list[TrainingPart] = list(
        work(partial(training_part, model=candidates, how=how), _with_shares(training))
    )
    _require_efforts(robot, parts)
    choice = _structure(candidates, parts, forms)
    weight, prior_errors = _prior_weight(choice.folds, options, tell)
    tell('fitting')
    model = choice.model
    linear, covariance = _linear_fit(
        model, choice.folds, parts, cutoffs, options.estimator,
        lambda fit: list(work(partial(damped_part, model=model, how=how, fit=fit), training)),
    )  # fmt: skip
    consistent = consistent_fit(model, linear, weight)
    tell('judging')
    bases = {
        'identified': consistent.base,
        'plain': linear.base,
        'description': model.base.to_base(model.prior),
    }
    fitted = _Fitted.of(model, parts, cutoffs, bases, linear.spread)
    gravities = gravity_errors(robot, [s for part in parts for s in part.kept])
    # Before the memory is needed for other logs.
    parts = [replace(part, kept=()) for part in parts]
    written = identified_model(model, consistent.parameters).friction_model
    filed = ModelWithFileFriction.of(model, written)
    compared = {whose: filed.without_file(base) for whose, base in bases.items()}
    compared['files'] = filed.with_file(consistent.parameters)
    judge = partial(held_out_part, model=filed, how=how, bases=compared)
    judged: list[HeldOutPart] = list(work(judge, _with_shares(held_out)))
    verifying = tuple(part.series for part in judged)
    return Identification(
        model=model,
        options=options,
        cutoffs=cutoffs,
        linear=linear,
        covariance=covariance,
        consistent=consistent,
        prior_weight=weight,
        structure_errors=choice.errors,
        prior_errors=prior_errors,
        training=fitted.agreement,
        held_out=_measures(judged, model.robot.v_names),
        effort_delay=fitted.delay,
        delay_share=fitted.delay_share,
        gravity_errors=gravities,
        efforts=(
            np.concatenate([one.described for one in verifying or fitted.series]),
            np.concatenate([one.measured for one in verifying or fitted.series]),
        ),
        spans=(tuple(part.span for part in parts), tuple(part.span for part in judged)),
        series=(fitted.series, verifying),
        notes=_notes(parts, judged),
    )


def training_cutoffs(
    source: RecordSource, robot: RobotModel, options: IdentificationOptions
) -> CutoffChoice:
    """Return the cutoffs for all logs, from the longest one; errors as of `identify`."""
    return record_cutoffs(robot, source.opened(), options.cutoff)


def verdict_of(found: Identification, written: RobotModel) -> Verdict:
    """
    Judge an identification.

    Parameters
    ----------
    found : Identification
        What was found.
    written : RobotModel
        The robot read back from what is to be written, with the identified armature.

    """
    model = found.model
    n = model.n_inertial
    parameters = found.consistent.parameters

    def error(whose: str) -> float | None:
        measures = found.held_out.get(whose, {})
        return measures['filtered'].relative if 'filtered' in measures else None

    given = tuple(float(value) for value in model.robot.gravity)
    files, described = (
        found.held_out[whose]['filtered'].joints if found.held_out else ()
        for whose in ('files', 'description')
    )
    checks = (
        check_held_out(error('files'), error('description')),
        check_joints(files, described),
        check_motion(*_speeds_and_time(found), found.cutoffs.cutoff),
        check_files(error('files'), error('identified')),
        check_cost(error('identified'), error('plain')),
        check_signs(model.robot.v_names, *found.efforts),
        check_delay(found.effort_delay, found.delay_share, found.cutoffs.cutoff),
        check_gravity(found.gravity_errors, given),
        check_minimum(found.consistent.is_settled),
        check_condition(found.linear.condition, model.base.rank),
        check_bodies(model.robot, parameters[:n]),
        check_friction(model.names[n:], parameters[n:], model.nonnegative),
        check_mass(float(parameters[:n:10].sum()), float(model.prior[:n:10].sum())),
        check_mass_matrix(written),
    )
    return Verdict(checks)


def _check_options(robot: RobotModel, options: IdentificationOptions) -> None:
    if options.estimator not in ESTIMATORS:
        raise ConfigurationError(
            f"estimator '{options.estimator}' is not one of: {', '.join(ESTIMATORS)}"
        )
    if robot.payload is not None:
        raise ConfigurationError('identify the robot without a payload in its model')


def _require_efforts(robot: RobotModel, parts: Sequence[TrainingPart]) -> None:
    """Refuse training data in which a joint has no effort that can be used, or a dead one."""
    used = np.sum([fold.samples for part in parts for fold in part.folds.parts], axis=0)
    for j, joint in enumerate(robot.v_names):
        if not used[j]:
            raise ConfigurationError(
                f"no effort of joint '{joint}' in the training data can be used: it is missing, "
                'always slower than --standstill, or the log is too short for the cutoff'
            )
        every = [s.tau[s.use[:, j], j] for part in parts for s in part.kept]
        tau = np.concatenate([*every, np.zeros(0)])
        if len(tau) and np.ptp(tau) <= ROUNDING * np.abs(tau).max():
            raise ConfigurationError(
                f"the effort of joint '{joint}' is {tau[0]:.4g} in all training data: its drive "
                'does not measure it'
            )


def _speeds_and_time(
    found: Identification,
) -> tuple[tuple[str, ...], Vector, Vector, float]:
    """Return the joints, their largest speeds in training and held-out data, and its time."""
    joints = found.model.robot.v_names
    zero = np.zeros(len(joints))
    training, held_out = (
        np.max([zero, *(log.largest_speed for log in series)], axis=0) for series in found.series
    )
    return joints, training, held_out, sum(span.stop - span.start for span in found.spans[1])


def _with_shares(sources: Sequence[RecordSource]) -> list[tuple[RecordSource, int]]:
    """Return each log with the number of rows that it may keep."""
    count = len(sources)
    keeping = max(1, min(count, MOST_ROWS // FEWEST_ROWS))
    chosen = set(np.linspace(0, count - 1, keeping).round().astype(int).tolist())
    share = MOST_ROWS // keeping
    return [(source, share if k in chosen else 0) for k, source in enumerate(sources)]


def _candidates(
    robot: RobotModel, options: IdentificationOptions
) -> tuple[IdentificationModel, tuple[str, ...]]:
    """Return the model with the columns of all candidates, and the forms of friction to try."""
    automatic = options.friction == 'auto'
    largest = 'stribeck' if automatic else options.friction
    structure = ModelStructure(largest, options.offset, options.rotor_inertia, options.couplings)
    if largest in ('none', 'viscous'):
        return identification_model(robot, structure), ()
    return candidates_of(robot, structure), ('coulomb', 'stribeck') if automatic else (largest,)


def _kept_rows(
    model: IdentificationModel, part: TrainingPart, cutoffs: CutoffChoice
) -> Iterator[RegressionRows]:
    for samples in part.kept:
        yield from regression_rows(model, samples, cutoffs.cutoff)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """
    How the model agrees with the rows that were kept of the training data.

    Attributes
    ----------
    series : tuple of EffortSeries
        Efforts of the logs that keep some.
    agreement : Measure
        Of the model.
    delay, delay_share : float
        See `effort_delay`.

    """

    series: tuple[EffortSeries, ...]
    agreement: Measure
    delay: float
    delay_share: float

    @staticmethod
    def of(
        model: IdentificationModel,
        parts: Sequence[TrainingPart],
        cutoffs: CutoffChoice,
        bases: Mapping[str, Vector],
        spread: Vector,
    ) -> _Fitted:
        """Compare the models with the rows, log by log, of which none is kept."""
        models = bases['identified'], bases['description']
        series = tuple(
            series_of_rows(
                part.span.name, _kept_rows(model, part, cutoffs), *models, part.largest_speed
            )
            for part in parts
            if part.kept
        )
        measured, predicted, use = (
            np.concatenate([getattr(log, name) for log in series])
            for name in ('measured', 'identified', 'use')
        )
        agreement = measured_agreement(model.robot.v_names, measured, predicted, use)
        rows = (block for part in parts for block in _kept_rows(model, part, cutoffs))
        return _Fitted(series, agreement, *effort_delay(rows, 1.0 / spread))


def _notes(parts: Sequence[TrainingPart], judged: Sequence[HeldOutPart]) -> tuple[str, ...]:
    notes = [note for part in parts for note in part.notes]
    notes += [note for part in judged for note in part.notes]
    return tuple(dict.fromkeys(notes))


def _structure(
    candidates: IdentificationModel, parts: Sequence[TrainingPart], forms: Sequence[str]
) -> StructureChoice:
    folds = parts[0].folds.merged(part.folds for part in parts[1:])
    folds = Folds(candidates, folds.parts)  # the object at hand, not one that came back
    return choose_structure(folds, forms) if forms else StructureChoice(candidates, folds, {})


def _prior_weight(
    folds: Folds, options: IdentificationOptions, tell: Callable[[str], None]
) -> tuple[float, dict[float, float]]:
    if options.prior_weight is not None:
        return options.prior_weight, {}
    tell('choosing the weight of the prior')
    return choose_prior_weight(folds)


def _linear_fit(
    model: IdentificationModel,
    folds: Folds,
    parts: Sequence[TrainingPart],
    cutoffs: CutoffChoice,
    estimator: str,
    damp: Callable[[LinearFit], list[Any]],
) -> tuple[LinearFit, BaseCovariance]:
    """Return the fit to all rows, and its covariance from those that are kept."""
    every, kept = sum(part.rows for part in parts), sum(part.kept_rows for part in parts)
    whole = None if kept == every else folds.whole()
    rows = [block for part in parts for block in _kept_rows(model, part, cutoffs)]
    linear, covariance = _fit_to_kept(model, rows, whole, estimator)
    del rows  # before the logs are read again
    if estimator == 'huber' and kept < every:
        first, *others = damp(linear)
        linear = one_more_round(linear, first.merged(others))
    # Information adds up over samples.
    share = kept / every
    return linear, replace(covariance, matrix=frozen(covariance.matrix * share))


def _fit_to_kept(
    model: IdentificationModel,
    rows: Sequence[RegressionRows],
    whole: TriangularFactors | None,
    estimator: str,
) -> tuple[LinearFit, BaseCovariance]:
    """Return a robust fit to rows, or a plain one to the factors of more than these."""
    at_hand = accumulated(rows, model.columns_of_joint, model.base.rank)
    if estimator == 'huber':
        linear = huber_least_squares(rows, at_hand)
        return linear, base_covariance(rows, linear)
    fit = ordinary_least_squares if estimator == 'ols' else weighted_least_squares
    linear = fit(at_hand if whole is None else whole)
    return linear, base_covariance(rows, replace(linear, factors=at_hand))


def _measures(
    judged: Sequence[HeldOutPart], joint_names: Sequence[str]
) -> dict[str, dict[str, Measure]]:
    if not judged:
        return {}
    return {
        whose: {
            against: summed(part.sums[whose][against] for part in judged).measure(joint_names)
            for against in measures
        }
        for whose, measures in judged[0].sums.items()
    }

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit, ConsistentFit
from robot_dynamics_ros.core.identification.covariance import base_covariance, BaseCovariance
from robot_dynamics_ros.core.identification.cross_validation import (
    candidates_of,
    choose_prior_weight,
    choose_structure,
    columns_among,
    folds_of,
)
from robot_dynamics_ros.core.identification.effort_delay import effort_delay
from robot_dynamics_ros.core.identification.excitation_spectrum import (
    chosen_cutoff,
    CutoffChoice,
)
from robot_dynamics_ros.core.identification.gravity_direction import gravity_errors
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.least_squares import (
    huber_least_squares,
    LinearFit,
    ordinary_least_squares,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import (
    regression_rows,
    RegressionRows,
)
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)
from robot_dynamics_ros.core.identification.verdict import (
    check_bodies,
    check_condition,
    check_cost,
    check_friction,
    check_gravity,
    check_held_out,
    check_mass,
    check_mass_matrix,
    check_minimum,
    check_signs,
    Measure,
    measured_agreement,
    Verdict,
)
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

ESTIMATORS = ('huber', 'wls', 'ols')


@dataclass(frozen=True, eq=False)
class JointRecord:
    """
    One contiguous log, in the joint order of the robot.

    Attributes
    ----------
    name : str
        What the user calls it.
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        [rad | m]
    velocity : ndarray, shape (n, nv), or None
        [rad/s | m/s]
    effort : ndarray, shape (n, nv)
        [N m | N]; NaN where missing.

    """

    name: str
    stamps: Vector
    position: Matrix
    velocity: Matrix | None
    effort: Matrix

    def between(self, start: float, stop: float) -> JointRecord:
        """Return the part with ``start <= stamp < stop``."""
        part = slice(*np.searchsorted(self.stamps, [start, stop]))
        velocity = None if self.velocity is None else self.velocity[part]
        return JointRecord(
            self.name, self.stamps[part], self.position[part], velocity, self.effort[part]
        )

    def with_efforts_moved(self, delay: float) -> JointRecord:
        """Return the log with efforts that were stamped `delay` too late moved back [s]."""
        if delay == 0.0:
            return self
        times = self.stamps + delay
        known = (times >= self.stamps[0]) & (times <= self.stamps[-1])
        moved = [np.interp(times, self.stamps, column) for column in self.effort.T]
        effort = np.where(known[:, None], np.column_stack(moved), np.nan)
        return replace(self, effort=effort)


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
        For ``identified``, ``plain`` and ``description``: against the efforts with both sides
        filtered (``filtered``), the filtered efforts (``filtered effort``), and the efforts as
        they are (``raw effort``). Empty without held-out data.
    effort_delay : float
        By how much the efforts still seem to be stamped too late [s].
    gravity_errors : mapping of tuple to float
        Error of a fit under each direction of gravity.
    efforts : tuple of ndarray
        Filtered efforts of the held-out (or else training) rows: by the description and measured.

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
    gravity_errors: dict[tuple[float, ...], float]
    efforts: tuple[Matrix, Matrix]


def identify(
    robot: RobotModel,
    training: Sequence[JointRecord],
    held_out: Sequence[JointRecord],
    options: IdentificationOptions | None = None,
    *,
    advance: Callable[[str], None] | None = None,
) -> Identification:
    """
    Identify a robot.

    Parameters
    ----------
    robot : RobotModel
        The prior, with the joints of the logs in their order, without payload.
    training : sequence of JointRecord
        Data to choose and fit with.
    held_out : sequence of JointRecord
        Data to judge with; nothing else is done with them.
    options : IdentificationOptions, optional
        Choices.
    advance : callable, optional
        Called with the name of each step before it begins, for a progress display.

    Raises
    ------
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
    training = [_prepared(robot, record, options.effort_delay) for record in training]
    held_out = [_prepared(robot, record, options.effort_delay) for record in held_out]
    tell('filtering')
    longest = max(training, key=lambda record: len(record.stamps))
    cutoffs = chosen_cutoff(longest.stamps, longest.position, options.cutoff)
    samples = [_samples(record, cutoffs, options.standstill) for record in training]
    tell('choosing the friction')
    model, rows, structure_errors, weight, prior_errors = _chosen(
        robot, samples, cutoffs, options, tell
    )
    tell('fitting')
    factors = accumulated(rows, model.columns_of_joint, model.base.rank)
    linear = _linear_fit(rows, factors, options.estimator)
    consistent = consistent_fit(model, linear, weight)
    tell('judging')
    measures = _held_out_measures(model, linear, consistent, held_out, cutoffs)
    judged = [_rows(model, _samples(r, cutoffs, 0.0), cutoffs) for r in held_out] or [rows]
    together = [block for blocks in judged for block in blocks]
    described = np.concatenate(
        [block.regressor @ model.base.to_base(model.prior) for block in together]
    )
    return Identification(
        model=model,
        options=options,
        cutoffs=cutoffs,
        linear=linear,
        covariance=base_covariance(rows, linear),
        consistent=consistent,
        prior_weight=weight,
        structure_errors=structure_errors,
        prior_errors=prior_errors,
        training=_agreement(model, rows, consistent.base),
        held_out=measures,
        effort_delay=effort_delay(rows, 1.0 / linear.spread),
        gravity_errors=gravity_errors(robot, samples),
        efforts=(described, np.concatenate([block.tau for block in together])),
    )


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
    checks = (
        check_held_out(error('identified'), error('description')),
        check_cost(error('identified'), error('plain')),
        check_signs(model.robot.v_names, *found.efforts),
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


def _prepared(robot: RobotModel, record: JointRecord, delay: float) -> JointRecord:
    """Return a log with continuous joints that count their turns and efforts moved back."""
    shape = (len(record.stamps), robot.nv)
    position = np.array(as_finite('position', record.position, shape))
    for joint in robot.joints:
        if joint.type is JointType.CONTINUOUS and joint.mimic is None:
            position[:, joint.q_index] = np.unwrap(position[:, joint.q_index])
    return replace(record, position=position).with_efforts_moved(delay)


def _samples(record: JointRecord, cutoffs: CutoffChoice, standstill: float) -> JointSamples:
    samples = joint_samples(
        record.stamps, record.position, record.velocity, record.effort, cutoffs.motion_cutoff
    )
    return samples.without_standstill(standstill) if standstill else samples


def _rows(
    model: IdentificationModel, samples: JointSamples, cutoffs: CutoffChoice
) -> list[RegressionRows]:
    return list(regression_rows(model, samples, cutoffs.cutoff))


def _chosen(
    robot: RobotModel,
    samples: Sequence[JointSamples],
    cutoffs: CutoffChoice,
    options: IdentificationOptions,
    tell: Callable[[str], None],
) -> tuple[IdentificationModel, list[RegressionRows], dict[str, float], float, dict[float, float]]:
    """Return the model with its rows, and what cross-validation found on the way."""
    automatic = options.friction == 'auto'
    largest = 'stribeck' if automatic else options.friction
    structure = ModelStructure(largest, options.offset, options.rotor_inertia, options.couplings)
    errors: dict[str, float] = {}
    if largest in ('none', 'viscous'):
        model = identification_model(robot, structure)
        rows = [block for part in samples for block in _rows(model, part, cutoffs)]
        folds = folds_of(model, rows)
    else:
        candidates = candidates_of(robot, structure)
        rows = [block for part in samples for block in _rows(candidates, part, cutoffs)]
        forms = ('coulomb', 'stribeck') if automatic else (largest,)
        choice = choose_structure(folds_of(candidates, rows), forms)
        model, folds, errors = choice.model, choice.folds, choice.errors
        columns = columns_among(candidates, model)
        rows = [RegressionRows(b.stamps, b.regressor[:, :, columns], b.tau, b.use) for b in rows]
    if options.prior_weight is not None:
        return model, rows, errors, options.prior_weight, {}
    tell('choosing the weight of the prior')
    weight, prior_errors = choose_prior_weight(folds)
    return model, rows, errors, weight, prior_errors


def _linear_fit(
    rows: Sequence[RegressionRows], factors: TriangularFactors, estimator: str
) -> LinearFit:
    if estimator == 'ols':
        return ordinary_least_squares(factors)
    if estimator == 'wls':
        return weighted_least_squares(factors)
    return huber_least_squares(rows, factors)


def _agreement(
    model: IdentificationModel, rows: Sequence[RegressionRows], base: Vector
) -> Measure:
    predicted = np.concatenate([block.regressor @ base for block in rows])
    measured = np.concatenate([block.tau for block in rows])
    use = np.concatenate([block.use for block in rows])
    return measured_agreement(model.robot.v_names, measured, predicted, use)


def _held_out_measures(
    model: IdentificationModel,
    linear: LinearFit,
    consistent: ConsistentFit,
    held_out: Sequence[JointRecord],
    cutoffs: CutoffChoice,
) -> dict[str, dict[str, Measure]]:
    if not held_out:
        return {}
    bases = {
        'identified': consistent.base,
        'plain': linear.base,
        'description': model.base.to_base(model.prior),
    }
    rows = [block for r in held_out for block in _rows(model, _samples(r, cutoffs, 0.0), cutoffs)]
    at_stamps = [_at_stamps(record, cutoffs) for record in held_out]
    samples = [part for part, _, _ in at_stamps]
    q, v, a, use = (
        np.concatenate([getattr(part, name) for part in samples])
        for name in ('q', 'v', 'a', 'use')
    )
    filtered = np.concatenate([tau for _, tau, _ in at_stamps])
    raw = np.concatenate([tau for _, _, tau in at_stamps])
    names = model.robot.v_names
    measures = {}
    for whose, base in bases.items():
        predicted = model.base_efforts(base, q, v, a)
        measures[whose] = {
            'filtered': _agreement(model, rows, base),
            'filtered effort': measured_agreement(names, filtered, predicted, use),
            'raw effort': measured_agreement(names, raw, predicted, use),
        }
    return measures


def _at_stamps(record: JointRecord, cutoffs: CutoffChoice) -> tuple[JointSamples, Matrix, Matrix]:
    """Return every sample of a log, its filtered efforts and its efforts as they are."""
    samples = joint_samples(
        record.stamps, record.position, record.velocity, record.effort,
        cutoffs.motion_cutoff, rate=np.inf,
    )  # fmt: skip
    kept = np.searchsorted(record.stamps, samples.stamps)
    bridged = bridge_missing(record.stamps, record.effort)
    filtered = ZeroPhaseFilter(cutoffs.cutoff).filtered(record.stamps, bridged)
    return samples, filtered[kept], bridged[kept]

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
Choosing friction, its width and the weight of the prior by cross-validation.

The training data are cut into contiguous folds. A candidate is fitted to all folds but one and
judged on that one, in turn; the candidate with the smallest errors, each joint's in units of its
standard deviation, wins. Contiguous, because samples next to each other hold the same errors: a
random split would judge a model on what it has seen. The data held out for the verdict take no
part.

All candidates are columns of one regression, whose triangular factors are computed once for each
fold; a candidate is a choice of columns.

References
----------
.. [1] T. Hastie, R. Tibshirani, J. Friedman, *The Elements of Statistical Learning*, 2nd ed.,
   2009, section 7.10.
.. [2] D. R. Roberts et al., "Cross-validation strategies for data with temporal, spatial,
   hierarchical, or phylogenetic structure", Ecography 40(8), 2017 (blocks in time).

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.identification_model import (
    candidate_model,
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import candidate_name, ModelStructure
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    solve_triangular_system,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors
from robot_dynamics_ros.core.model.robot_model import RobotModel

WIDTHS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.13, 0.2)
"""Candidates for the width of the smooth sign [rad/s | m/s]."""

PRIOR_WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
"""Candidates for the weight of the prior."""

FOLDS = 5

WORTHWHILE = 0.99
"""Errors must fall below this part for a larger model or another width to be taken."""


@dataclass(frozen=True, eq=False)
class Folds:
    """
    Triangular factors of contiguous parts of the training data.

    Attributes
    ----------
    model : IdentificationModel
        Whose base parameters are the columns.
    parts : tuple of TriangularFactors
        One for each fold.

    """

    model: IdentificationModel
    parts: tuple[TriangularFactors, ...]

    def merged(self, others: Iterable[Folds]) -> Folds:
        """Return folds that hold those of several logs, each its own part of every log."""
        parts = list(self.parts)
        for other in others:
            parts = [mine.merged([its]) for mine, its in zip(parts, other.parts)]
        return Folds(self.model, tuple(parts))

    def whole(self) -> TriangularFactors:
        """Return the factors of all folds."""
        return self.parts[0].merged(self.parts[1:])

    def restricted_to(self, model: IdentificationModel) -> Folds:
        """Return the folds for one of the candidates."""
        columns = columns_among(self.model, model)
        return Folds(model, tuple(part.restricted(columns) for part in self.parts))

    def splits(self) -> Iterable[tuple[TriangularFactors, TriangularFactors]]:
        """Yield the factors of all folds but one, and those of that one."""
        for k, held in enumerate(self.parts):
            others = [part for i, part in enumerate(self.parts) if i != k]
            yield others[0].merged(others[1:]), held


def columns_among(candidates: IdentificationModel, model: IdentificationModel) -> NDArray[np.intp]:
    """Return the columns of one candidate among those of all."""
    number = {name: k for k, name in enumerate(candidates.base.base_names)}
    labels = [_label(model, name) for name in model.base.base_names]
    return np.array([number[label] for label in labels], dtype=np.intp)


def folds_of(
    model: IdentificationModel, rows: Sequence[RegressionRows], count: int = FOLDS
) -> Folds:
    """
    Cut rows into contiguous folds.

    Parameters
    ----------
    model : IdentificationModel
        Whose regressor the rows hold.
    rows : sequence of RegressionRows
        The training data, in the order of time.
    count : int
        Number of folds.

    """
    return streamed_folds(model, rows, sum(len(block.stamps) for block in rows), count)


def streamed_folds(
    model: IdentificationModel, rows: Iterable[RegressionRows], total: int, count: int = FOLDS
) -> Folds:
    """
    Cut rows into contiguous folds as they come, so that none is kept.

    Parameters
    ----------
    model : IdentificationModel
        Whose regressor the rows hold.
    rows : iterable of RegressionRows
        The training data, in the order of time.
    total : int
        Number of rows that will come.
    count : int
        Number of folds.

    """
    edges = np.linspace(0, total, count + 1).astype(int).tolist()
    parts = count * [TriangularFactors.empty(model.columns_of_joint, model.base.rank)]
    passed = 0
    for block in rows:
        for k, (start, stop) in enumerate(zip(edges[:-1], edges[1:])):
            for piece in _cut([block], start - passed, stop - passed):
                parts[k] = parts[k].with_rows(piece)
        passed += len(block.stamps)
    return Folds(model, tuple(parts))


@dataclass(frozen=True, eq=False)
class StructureChoice:
    """
    The model that cross-validation chose.

    Attributes
    ----------
    model : IdentificationModel
        The model.
    folds : Folds
        The training data for it.
    errors : mapping of str to float
        Relative error in cross-validation of each form of friction at its best width.

    """

    model: IdentificationModel
    folds: Folds
    errors: dict[str, float]


def choose_structure(
    candidates: Folds, forms: Sequence[str] = ('coulomb', 'stribeck')
) -> StructureChoice:
    """
    Choose form and width of the friction.

    First one width for all joints, then that of each joint among the neighbours; a larger model or
    another width must be worth it.

    Parameters
    ----------
    candidates : Folds
        Of a `candidate_model` with the last of the forms.
    forms : sequence of str
        Candidates for the form of friction, each one holding the ones before.

    """
    robot, structure = candidates.model.robot, candidates.model.structure
    spread = weighted_least_squares(_sharp(candidates, structure)).spread
    best: tuple[float, IdentificationModel, Folds] | None = None
    errors = {}
    for form in forms:
        found = _best_widths(candidates, replace(structure, friction=form), 1.0 / spread)
        errors[form] = _relative(found[2], found[0], spread)
        if best is None or found[0] < WORTHWHILE**2 * best[0]:
            best = found
    if best is None:
        model = identification_model(robot, structure)
        best = (np.inf, model, candidates.restricted_to(model))
    return StructureChoice(best[1], best[2], errors)


def choose_prior_weight(
    folds: Folds, weights: Sequence[float] = PRIOR_WEIGHTS
) -> tuple[float, dict[float, float]]:
    """
    Choose the weight of the prior for the consistent fit.

    Returns
    -------
    weight : float
        The one with the smallest errors.
    errors : mapping of float to float
        Relative error in cross-validation for each weight.

    """
    spread = weighted_least_squares(folds.whole()).spread
    summed = dict.fromkeys(weights, 0.0)
    for others, held in folds.splits():
        triangle, right = others.stacked(1.0 / spread)
        base, condition = solve_triangular_system(triangle, right)
        fit = LinearFit(base, spread, condition, others)
        for weight in weights:
            found = consistent_fit(folds.model, fit, weight)
            summed[weight] += float(np.sum((held.residual_norms(found.base) / spread) ** 2))
    errors = {weight: _relative(folds, value, spread) for weight, value in summed.items()}
    return min(errors, key=lambda weight: errors[weight]), errors


def validation_error(folds: Folds, weights: Vector) -> float:
    """Return the sum of squares of the weighted errors on each fold after a fit to the others."""
    total = 0.0
    for others, held in folds.splits():
        triangle, right = others.stacked(weights)
        base, _ = solve_triangular_system(triangle, right)
        total += float(np.sum((held.residual_norms(base) * weights) ** 2))
    return total


def candidates_of(
    robot: RobotModel, structure: ModelStructure, widths: tuple[float, ...] = WIDTHS
) -> IdentificationModel:
    """
    Return the model that holds the columns of all candidates.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    ConfigurationError
        If a coupling names a joint that does not exist.

    """
    return candidate_model(robot, structure, widths)


def _best_widths(
    candidates: Folds, structure: ModelStructure, weights: Vector
) -> tuple[float, IdentificationModel, Folds]:
    nv = candidates.model.robot.nv
    widths = _widths_of(candidates)
    tried: dict[tuple[float, ...], tuple[float, IdentificationModel, Folds]] = {}

    def judged(velocities: tuple[float, ...]) -> tuple[float, IdentificationModel, Folds]:
        if velocities not in tried:
            model = identification_model(candidates.model.robot, structure, velocities)
            folds = candidates.restricted_to(model)
            tried[velocities] = (validation_error(folds, weights), model, folds)
        return tried[velocities]

    best = min((judged(nv * (width,)) for width in widths), key=lambda found: found[0])
    if structure.couplings:
        return best
    for j in range(nv):
        present = best[1].velocities
        place = widths.index(present[j])
        for k in {max(0, place - 1), min(len(widths) - 1, place + 1)} - {place}:
            found = judged((*present[:j], widths[k], *present[j + 1 :]))
            if found[0] < best[0] * WORTHWHILE**0.5:
                best = found
    return best


def _widths_of(candidates: Folds) -> tuple[float, ...]:
    return tuple(sorted({t.velocity for t in candidates.model.terms if t.kind == 'coulomb'}))


def _sharp(candidates: Folds, structure: ModelStructure) -> TriangularFactors:
    robot = candidates.model.robot
    narrowest = _widths_of(candidates)[:1] or (0.0,)
    model = identification_model(robot, structure, robot.nv * narrowest)
    return candidates.restricted_to(model).whole()


def _relative(folds: Folds, squares: float, spread: Vector) -> float:
    """Return weighted errors relative to the weighted efforts."""
    efforts = folds.whole().effort_norms() / spread
    return float(np.sqrt(squares / max(float(efforts @ efforts), 1e-300)))


def _label(model: IdentificationModel, name: str) -> str:
    """Return the name that a column of one candidate has among all candidates."""
    for term in model.terms:
        if term.name == name:
            return candidate_name(term.name, term.kind, term.velocity)
    return name


def _cut(rows: Sequence[RegressionRows], start: int, stop: int) -> list[RegressionRows]:
    cut, passed = [], 0
    for block in rows:
        part = slice(max(0, start - passed), max(0, stop - passed))
        passed += len(block.stamps)
        if part.stop > part.start and len(block.stamps[part]):
            cut.append(
                RegressionRows(
                    block.stamps[part], block.regressor[part], block.tau[part], block.use[part]
                )
            )
    return cut

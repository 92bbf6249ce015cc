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
That the efforts changed, since when, and what explains it best.

**That**: each joint has a cumulative sum for either direction of its normalised innovation
:math:`z = e / s`, with the deviation `s` of noise and of what is known of the arm together,

.. math:: S \leftarrow \max(0,\, S + z - k)

which begins to grow with the change and tells when that was.

**What**: since then the residuals are :math:`e = C_h \theta + A u + \epsilon` with the columns of
a cause `h`, the errors of the arm :math:`A u`, :math:`u \sim N(0, E)`, as they were known before,
and noise. With a size :math:`\theta \sim N(0, \Lambda)` that the cause usually has, the likelihood
of all rows under each cause follows in closed form; with everything in units of its deviation,

.. math:: \log\frac{p(e | h)}{p(e | \text{nothing})} =
          \tfrac12\, b_h^T (E + N_h)^{-1} b_h - \tfrac12 \log\det(E + N_h)

where `u` is eliminated from :math:`N_h = C_h^T C_h` and :math:`b_h = C_h^T e` before. A cause with
many parameters pays for them by the determinant, so that causes of any size can be compared; the
difference of two is the logarithm of how much more likely one is than the other. A payload that
was put down is a cause without any parameter: what was estimated is gone.

A cause is told when it is more likely than every other one by a margin and leaves nothing but
noise. What nothing explains, and what goes by itself, is a contact. While a change is being
explained, nobody must learn.

**Anew**: what is grasped is often bumped first, and no single cause explains both. So where all
rows since the change are explained by none, the last seconds of them are looked at alone, over
windows of several lengths. If they show a cause, that is told, and what went before is discarded;
if they show that all is as before, whatever it was is over.

References
----------
.. [1] M. Basseville, I. Nikiforov, *Detection of Abrupt Changes*, 1993, sections 2.2 (cumulative
   sum) and 7.2 (generalised likelihood ratio with nuisance parameters).
.. [2] R. Kass, A. Raftery, "Bayes Factors", JASA 90(430), 1995.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.online.arm_errors import ArmErrors, CORRELATED
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns
from robot_dynamics_ros.core.identification.online.change_comparison import (
    Compared,
    compared,
    without_arm,
)
from robot_dynamics_ros.core.identification.online.change_evidence import ChangeEvidence
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow

SLACK = 1.0
"""`k`: innovations up to so many deviations are no sign of a change."""

ALARM = 12.0
"""Sum with which a change is told; a clear one gets there within two or three rows."""

LARGEST_STEP = 6.0
"""Of a sum in one row: a single row is no change."""

MIXED = 0.3
"""How long rows hold what was before a change and what came after it [s]."""

SOONEST = 0.6
"""A change is explained by rows of so long at least [s]."""

LATEST = 5.0
"""What is not explained by then is not explained at all [s]."""

MARGIN = 6.0
"""By which a cause must be more likely than any other, in logarithms."""

POOR = 1.0
"""Mean square of what the best cause leaves, in squared deviations, beyond which it is none.

Deviations are those of rows that were independent: plain noise leaves a quarter.
"""

BACK = 0.5
"""If the efforts are again what they were for so long, it was a contact [s]."""

ONSET = 0.03
"""A change is seen so long after it happened at the earliest [s]."""

LASTING = ('contact', 'gravity direction', 'sensor offset')
"""Causes that no parameter of arm or payload stands for: nothing is learnt while they last."""

OF_A_JOINT = ('friction', 'sensor offset')
"""Causes that look alike while a joint does not turn back."""

EVERY = 4
"""Rows from one comparison of causes to the next."""

WINDOWS = (1.5, 3.0, 6.0)
"""Up to how long ago rows are looked at alone, if all together are explained by nothing [s]."""

SEEN = 12
"""Equations that a joint, which showed the change, needs in a window that shows none any more."""


@dataclass(frozen=True, eq=False)
class Change:
    """
    A change that was explained, or that was not.

    Attributes
    ----------
    kind : str
        ``payload``, ``payload removed``, ``friction``, ``sensor offset``, ``gravity direction``,
        ``contact`` or ``unexplained``; ``over`` where a cause that lasted is gone.
    where : str
        Joint, link or frame; empty if it is not known.
    since, told : float
        When it happened and when it was told, as stamps of rows [s].
    margin : float
        Logarithm of how much more likely it is than the next best cause; 0 if unexplained.
    size : ndarray
        Estimated parameters of the cause: ten of the change of the payload; changes of friction
        [N m s/rad, N m] or of the offset [N m]; tilts [rad]; force [N].
    sentence : str
        What happened, for people.
    before : float, optional
        Since when there was something else before that nothing explains [s]; None if there was
        not.

    """

    kind: str
    where: str
    since: float
    told: float
    margin: float
    size: Vector
    sentence: str
    before: float | None = None


class ChangeDetector:
    """
    Watches the innovations of all joints.

    Parameters
    ----------
    columns : ChangeColumns
        The causes.

    Attributes
    ----------
    is_explaining : bool
        Whether something changed and is not explained yet, or goes on without explanation:
        nothing may be learnt.
    since : float
        When it changed [s].
    likelihoods : tuple of (str, str, float)
        Kind, place and logarithm of the likelihood of each cause, as last compared.

    """

    def __init__(self, columns: ChangeColumns) -> None:
        self._columns = columns
        self.since = 0.0
        self.likelihoods: tuple[tuple[str, str, float], ...] = ()
        self._sums: Matrix | None = None
        self.reset()

    def reset(self) -> None:
        """Forget that anything changed."""
        self.is_explaining = False
        self._told: str | None = None
        self._sums = None
        self._calm = 0.0
        self._rows = self._looks = 0
        self._evidence = ChangeEvidence()

    def step(
        self,
        row: OnlineRow,
        residual: Vector,
        deviation: Vector,
        use: NDArray[np.bool_],
        arm: ArmErrors,
    ) -> Change | None:
        """
        Take in a row.

        Parameters
        ----------
        row : OnlineRow
            With columns of a payload.
        residual, deviation : ndarray, shape (nv,)
            As for `PayloadTracker.step` [N m | N].
        use : ndarray of bool, shape (nv,)
            Which joints count.
        arm : ArmErrors
            What is known; it must not change while something is being explained.

        Returns
        -------
        change : Change or None
            A change that has just been told.

        """
        innovation, known = arm.innovation(row, residual)
        noise = CORRELATED * deviation
        score = np.where(use, innovation / np.hypot(noise, known), 0.0)
        if not self.is_explaining:
            self._watch(row.stamp, score, use)
            return None
        self._count_calm(row.step, innovation / noise, score, use)
        if row.stamp > self.since + MIXED:
            self._take_in(row, innovation, noise, use, arm)
        return self._judge(row.stamp, arm)

    def _watch(self, stamp: float, score: Vector, use: NDArray[np.bool_]) -> None:
        """Sum up, and find when the sums began to grow."""
        if self._sums is None:
            self._sums = np.zeros((2, len(score)))
            self._began = np.full((2, len(score)), stamp)
        steps = np.minimum(np.array([score, -score]) - SLACK, LARGEST_STEP)
        np.maximum(steps, -LARGEST_STEP, out=steps)
        self._began[self._sums == 0.0] = stamp
        self._sums = np.where(use, np.maximum(0.0, self._sums + steps), self._sums)
        if self._sums.max() > ALARM:
            self.since = float(self._began[self._sums > 0.5 * ALARM].min()) - ONSET
            self.is_explaining = True
            self._alarmed = (self._sums > 0.5 * ALARM).any(axis=0)

    def _count_calm(
        self, period: float, plain: Vector, score: Vector, use: NDArray[np.bool_]
    ) -> None:
        """Count for how long the efforts have been again what they were before."""
        if np.any(use & (np.abs(plain) > 2.0) & (np.abs(score) > 1.0)):
            self._calm = 0.0
        elif np.all(use[self._alarmed]):
            self._calm += period

    def _take_in(
        self,
        row: OnlineRow,
        innovation: Vector,
        noise: Vector,
        use: NDArray[np.bool_],
        arm: ArmErrors,
    ) -> None:
        """Add the rows to the information about causes and errors of the arm."""
        gone = -row.payload @ arm.payload if arm.is_loaded else np.zeros(len(noise))
        columns = np.column_stack([self._columns.columns(row), arm.images(row), gone, innovation])
        self._evidence.add(row.stamp, columns / noise[:, None], use)
        self._rows += 1

    def _judge(self, stamp: float, arm: ArmErrors) -> Change | None:
        """Tell what it is, if that is clear."""
        if self._calm > BACK:
            return self._over(stamp, stamp - BACK)
        is_late = stamp - self.since > LATEST
        due = self._rows % EVERY == 0 and self._rows > 0
        if not (due and stamp - self._evidence.first > SOONEST - MIXED):
            return None
        window = self._evidence.since()
        found = compared(window, without_arm(window, self._columns.count), self._columns, arm)
        self.likelihoods = tuple((f.cause.kind, f.cause.where, f.likelihood) for f in found)
        best, *others = found
        # Contacts with neighbouring links look alike: that it is one is what counts.
        rivals = [o for o in others if not o.cause.kind == best.cause.kind == 'contact']
        margin = best.likelihood - max((o.likelihood for o in rivals), default=0.0)
        if is_late and best.cause.kind in OF_A_JOINT:
            # A joint that turns one way only does not tell its friction from its sensor.
            rivals = [o for o in rivals if o.cause.where != best.cause.where]
            margin = best.likelihood - max((o.likelihood for o in rivals), default=0.0)
        if best.left < POOR and margin > MARGIN and best.likelihood > MARGIN:
            if best.cause.kind in LASTING:
                return self._persists(best.cause.kind, best, margin, stamp)
            told = _change(best, self.since, stamp, margin)
            self.reset()
            return told
        change = self._look_anew(stamp, arm) if is_late or best.left >= POOR else None
        if change is None and is_late:
            return self._persists('unexplained', best, 0.0, stamp)
        return change

    def _look_anew(self, stamp: float, arm: ArmErrors) -> Change | None:
        """Tell what the rows of the last seconds alone show, one window at a time."""
        length = WINDOWS[self._looks % len(WINDOWS)]
        self._looks += 1
        if stamp - length < self._evidence.first:
            return None
        window = self._evidence.since(stamp - length)
        reduced = without_arm(window, self._columns.count)
        best, *others = compared(window, reduced, self._columns, arm)
        is_seen = window.counts[self._alarmed].min() >= SEEN
        if is_seen and best.likelihood < 0.0 and reduced[-1, -1] < POOR * window.count:
            return self._over(stamp, window.first)
        margin = best.likelihood - max((o.likelihood for o in others), default=0.0)
        is_clear = best.left < POOR and min(margin, best.likelihood) > MARGIN
        if not is_clear or best.cause.kind in LASTING:
            return None
        change = _change(best, window.first - MIXED, stamp, margin, self.since)
        self.reset()
        return change

    def _persists(self, kind: str, best: Compared, margin: float, stamp: float) -> Change | None:
        """Tell once of something that goes on and must not be learnt."""
        if self._told == kind:
            return None
        self._told = kind
        if kind != 'unexplained':
            return _change(best, self.since, stamp, margin)
        sentence = (
            'the efforts changed and no single cause explains how: '
            'nothing is learnt until they are as before'
        )
        return Change(kind, '', self.since, stamp, 0.0, np.zeros(0), sentence)

    def _over(self, stamp: float, until: float) -> Change:
        """Tell that the efforts are again what they were, since some time."""
        where, told = '', self._told
        if told in (None, 'contact') and self.likelihoods:
            contacts = [found for found in self.likelihoods if found[0] == 'contact']
            where = max(contacts, key=lambda found: found[2])[1] if contacts else ''
        since = self.since
        self.reset()
        if told in ('gravity direction', 'sensor offset'):
            sentence = f'the efforts are again what they were: no {told} any more'
            return Change('over', '', since, stamp, 0.0, np.zeros(0), sentence)
        place = f" at or beyond link '{where}'" if where else ''
        sentence = f'something touched the arm{place} for {until - since:.1f} s'
        return Change('contact', where, since, stamp, 0.0, np.zeros(0), sentence)


def _change(
    found: Compared, since: float, told: float, margin: float, before: float | None = None
) -> Change:
    kind, where = found.cause.kind, found.cause.where
    values = ', '.join(f'{value:.3g}' for value in found.size[: 4 if kind == 'payload' else None])
    sentence = {
        'payload': f"the payload at '{where}' changed by about {found.size[:1].sum():.2g} kg",
        'payload removed': f"the payload at '{where}' was put down",
        'friction': f"the friction of joint '{where}' changed by {values} (viscous, Coulomb)",
        'sensor offset': f"the effort of joint '{where}' is reported {values} more than before",
        'gravity direction': f'the base is tilted by {values} rad: is it mounted as it was?',
        'contact': f"a force of {values} N acts on link '{where}' or beyond",
    }[kind]
    return Change(kind, where, since, told, margin, found.size, sentence, before)

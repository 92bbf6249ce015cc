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

"""Survey a log in a first reading, and plan which topic gives which field of which joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.clock_survey import ClockSurvey
from robot_dynamics_ros.bags.joint_merge import Entry, GroupPlan
from robot_dynamics_ros.bags.joint_rows import FIELDS, JointGroup, JointRows, SampleSource
from robot_dynamics_ros.core.exceptions import BagError


class GroupSurvey:
    """
    What one group of joints holds.

    Attributes
    ----------
    group : JointGroup
        The group.
    clock : ClockSurvey
        Its stamps.
    known : ndarray of bool, shape (3, nj)
        Which fields of which joints ever have a finite value.
    incomplete : ndarray of int, shape (3,)
        Rows in which the field of some joint is not finite.

    """

    def __init__(self, group: JointGroup) -> None:
        self.group = group
        self.clock = ClockSurvey()
        self.known: NDArray[np.bool_] = np.zeros((len(FIELDS), len(group.joint_names)), bool)
        self.incomplete: NDArray[np.int64] = np.zeros(len(FIELDS), dtype=np.int64)

    def add(self, rows: JointRows) -> None:
        """Take further rows."""
        finite = np.isfinite(rows.values)
        self.known |= finite.any(axis=0)
        self.incomplete += np.count_nonzero(~finite.all(axis=2), axis=0)
        self.clock.add(rows)


def survey_groups(
    source: SampleSource, advance: Callable[[int], None] | None = None
) -> list[GroupSurvey]:
    """
    Read a log once, in constant memory.

    Returns
    -------
    surveys : list of GroupSurvey
        The groups, those with most rows first.

    Raises
    ------
    BagError
        If no sample can be used.

    """
    surveys: dict[object, GroupSurvey] = {}
    for chunk in source.chunks(advance):
        for rows in chunk:
            surveys.setdefault(rows.group.key, GroupSurvey(rows.group)).add(rows)
    if not surveys:
        rejected = [note for note in source.notes if 'were left out' in note]
        reasons = f' ({"; ".join(rejected)})' if rejected else ''
        received = source.counts.get('messages', 0)
        raise BagError(f'{source.name} has no usable message of {received}{reasons}')
    return sorted(surveys.values(), key=lambda survey: survey.clock.rows, reverse=True)


@dataclass(frozen=True)
class MergePlan:
    """
    How the groups of a log become one table.

    Attributes
    ----------
    joint_names : tuple of str
        Columns of the table.
    base : GroupPlan
        The group that comes most often, whose stamps are kept.
    others : tuple of GroupPlan
        What is interpolated onto them.
    known : ndarray of bool, shape (3, nj)
        Which fields of which joints ever have a finite value.
    notes : tuple of str
        What is interpolated, and what is left out.

    """

    joint_names: tuple[str, ...]
    base: GroupPlan
    others: tuple[GroupPlan, ...]
    known: NDArray[np.bool_]
    notes: tuple[str, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topics that contribute, that of the stamps first."""
        plans = (self.base, *self.others)
        return tuple(dict.fromkeys(plan.group.topic for plan in plans))


def plan_merge(surveys: Sequence[GroupSurvey]) -> MergePlan:
    """
    Take each field of each joint from the fastest group that has it.

    Parameters
    ----------
    surveys : sequence of GroupSurvey
        The groups, those with most rows first.

    """
    first = surveys[0]
    names = list(first.group.joint_names)
    taken = {
        (index, name)
        for index in range(len(FIELDS))
        for column, name in enumerate(names)
        if first.known[index, column]
    }
    by_log = first.clock.plan().uses_log_times
    plans: list[GroupPlan] = []
    notes: list[str] = []
    for survey in surveys[1:]:
        entries = _new_entries(survey, names, taken) if survey.clock.rows > 1 else ()
        if entries:
            force = by_log or not (first.clock.has_stamps and survey.clock.has_stamps)
            clock = survey.clock.plan(force_log_times=force)
            plans.append(GroupPlan(survey.group, survey.clock.rows, clock, entries))
        notes.append(_note(survey, entries, first.group.joint_names))
    known: NDArray[np.bool_] = np.zeros((len(FIELDS), len(names)), dtype=bool)
    for index, name in taken:
        known[index, names.index(name)] = True
    count = range(len(first.group.joint_names))
    own = tuple(Entry(f, c, c) for f in range(len(FIELDS)) for c in count if first.known[f, c])
    base = GroupPlan(first.group, first.clock.rows, first.clock.plan(), own)
    return MergePlan(tuple(names), base, tuple(plans), known, tuple(notes))


def _new_entries(
    survey: GroupSurvey, names: list[str], taken: set[tuple[int, str]]
) -> tuple[Entry, ...]:
    """Claim what no faster group has; joints that are new are appended to `names`."""
    entries = []
    for source, name in enumerate(survey.group.joint_names):
        for index in range(len(FIELDS)):
            if survey.known[index, source] and (index, name) not in taken:
                if name not in names:
                    names.append(name)
                taken.add((index, name))
                entries.append(Entry(index, source, names.index(name)))
    return tuple(entries)


def _note(survey: GroupSurvey, entries: Sequence[Entry], base_names: Sequence[str]) -> str:
    group, rows = survey.group, survey.clock.rows
    if not entries:
        others = ', '.join(group.joint_names[:4])
        return f'{rows} messages with other joints ({others}) were left out'
    new = [name for name in group.joint_names if name not in base_names]
    parts = [', '.join(new)] if new else []
    for index, field in enumerate(FIELDS):
        of_field = [group.joint_names[entry.source] for entry in entries if entry.field == index]
        if added := [name for name in of_field if name not in new]:
            parts.append(f'{field} of {", ".join(added)}')
    where = f' of {group.topic}' if group.topic and not new else ' of their own'
    return f'{" and ".join(parts)} come in {rows} messages{where} and are interpolated linearly'

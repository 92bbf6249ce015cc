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

"""The page of an identification: what it says first, and that its numbers are those found."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
import re

import numpy as np
import pytest

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
    verdict_of,
)
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.verdict import Check, Verdict
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.report.identification_page import identification_page
from robots import six_axis

QUICK = IdentificationOptions(friction='coulomb', prior_weight=1.0, cutoff=5.0)
Found = tuple[Identification, JointRecord, JointRecord]


@pytest.fixture(scope='module')
def found() -> Found:
    robot = build_model(six_axis())
    friction = dry_friction(robot, np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6))
    log = simulated_log(robot, friction, 14.0, rate=250.0, size=1.0)
    record = JointRecord('a <log>', log.stamps, log.position, log.velocity, log.effort)
    training, held_out = record.between(2.0, 9.0), record.between(9.0, 99.0)
    return identify(robot, [training], [held_out], QUICK), training, held_out


def page_of(folder: Path, found: Found, verdict: Verdict, *, with_held_out: bool = True) -> str:
    result, _, _ = found
    identification_page(
        folder,
        result if with_held_out else replace(result, held_out={}),
        verdict,
        identified_model(result.model, result.consistent.parameters),
        training=result.series[0],
        held_out=result.series[1] if with_held_out else [],
        title='Model of <an arm>',
        facts={'command': 'robot_dynamics identify a & b'},
        notes=['efforts are taken as torques'],
    )
    return (folder / 'report.html').read_text(encoding='utf-8')


def test_page_says_whether_to_use_the_model_before_all_else(tmp_path: Path, found: Found) -> None:
    verdict = verdict_of(found[0], found[0].model.robot)
    assert verdict.is_fit
    page = page_of(tmp_path, found, verdict)
    good, errors = page.index('may be used'), page.index('Errors on held-out data')
    assert good < errors < page.index('How to read this')
    assert 'FAILED' not in page
    for check in verdict.checks:
        assert check.message in page
    assert 'Model of &lt;an arm&gt;' in page and 'a &lt;log&gt;' in page and 'a &amp; b' in page


def test_failed_check_stands_first_and_marked(tmp_path: Path, found: Found) -> None:
    verdict = Verdict((Check('mass', True, 'fine'), Check('effort', False, 'the sign is wrong')))
    page = page_of(tmp_path, found, verdict)
    assert 'Do not use this model' in page
    assert page.index('the sign is wrong') < page.index('fine')
    marked = re.findall(r'<tr class=marked>(.*?)</tr>', page, re.DOTALL)
    assert 'FAILED' in marked[0] and not any('fine' in row for row in marked)


def test_numbers_and_pictures_are_those_of_the_fit(tmp_path: Path, found: Found) -> None:
    result = found[0]
    page = page_of(tmp_path, found, verdict_of(result, result.model.robot))
    whole = result.held_out['identified']['filtered'].relative
    assert whole is not None and f'{100.0 * whole:.3g} %' in page
    for formula in result.model.base.formulas(4):
        assert formula in page
    for name in result.model.base.without_effect:
        assert name in page
    pictures = re.findall(r'data:image/png;base64,([A-Za-z0-9+/=]+)', page)
    files = sorted(tmp_path.glob('plots/*.png'))
    assert {base64.b64decode(p) for p in pictures} == {file.read_bytes() for file in files}
    assert [file.name for file in files] == [
        'efforts_held-out_1.png', 'efforts_training_1.png', 'friction.png',
    ]  # fmt: skip


def test_without_held_out_data_the_page_says_that_nothing_verifies(
    tmp_path: Path, found: Found
) -> None:
    page = page_of(tmp_path, found, Verdict(()), with_held_out=False)
    assert 'No data were held out' in page


def test_series_are_efforts_of_the_models(found: Found) -> None:
    """Newton and Euler and friction by the description, where no joint turns round."""
    result, _, held_out = found
    (series,) = result.series[1]
    robot = result.model.robot
    moving = np.abs(held_out.velocity)[np.searchsorted(held_out.stamps, series.stamps)]
    at = 50 + int(np.argmax(moving[50:-50].min(axis=1)))
    rows = np.abs(held_out.stamps - series.stamps[at]) < 0.05
    local = held_out.stamps[rows] - series.stamps[at]
    q, v, a = (
        np.polyfit(local, held_out.position[rows], 4)[-1 - k] * factor
        for k, factor in enumerate((1.0, 1.0, 2.0))
    )
    expected = rnea(robot, q, v, a) + robot.damping * v + robot.friction * np.sign(v)
    size = np.abs(series.described).max(axis=0)
    # two filters of 5 and 20 Hz against a polynomial over a tenth of a second
    np.testing.assert_allclose(series.described[at] / size, expected / size, atol=0.05)
    left = series.measured - series.identified
    relative = np.linalg.norm(left) / np.linalg.norm(series.measured)
    assert relative == pytest.approx(result.held_out['identified']['filtered'].relative, rel=1e-6)

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

"""Every URDF of the wheel `example-robot-data` loads, or is refused with one clear line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.urdf import load_urdf

ROBOTS = sorted(
    Path(sys.prefix).glob(
        'lib*/python3*/site-packages/cmeel.prefix/share/example-robot-data/robots/**/*.urdf'
    )
)

REFUSED = {
    # an empty <robot>
    'ur3.urdf': 'there is no link',
    # mimic targets without their prefix
    'alex_psyonic_hands.urdf': "'Left_index_q2': it mimics joint 'index_q1', which does not exist",
}


def test_every_robot_loads_or_is_refused_with_one_line(
    record_property: Callable[[str, object], None], capfd: pytest.CaptureFixture[str]
) -> None:
    if not ROBOTS:
        pytest.skip('the wheel example-robot-data is not installed')
    loaded, refused = [], {}
    for path in ROBOTS:
        try:
            model = load_urdf(path)
        except UrdfError as error:
            refused[path.name] = str(error)
            continue
        loaded.append(path.name)
        assert model.nv >= 0
        assert np.isfinite(model.kernel).all()
        assert 0.0 <= model.moving_mass <= model.total_mass
    assert capfd.readouterr() == ('', '')
    print(f'{len(ROBOTS)} files: {len(loaded)} load, {len(refused)} are refused')
    record_property('loaded', len(loaded))
    record_property('refused', refused)
    assert set(refused) <= set(REFUSED)
    for name, message in refused.items():
        assert '\n' not in message
        assert REFUSED[name] in message
    assert len(loaded) >= 60  # 67 of 69 in version 6.0.0


def test_prefixless_mimics_load_as_independent_joints() -> None:
    path = next((path for path in ROBOTS if path.name == 'alex_psyonic_hands.urdf'), None)
    if path is None:
        pytest.skip('alex_psyonic_hands.urdf is not in the installed wheel')
    model = load_urdf(path, unknown_mimic='independent')
    assert sum(f.code == 'mimic_independent' for f in model.findings) == 8

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
FIGAROH in a process of its own: identifies from the arrays of a file and writes what it found.

It imports nothing of this package, so it runs with any Python that has FIGAROH. FIGAROH is used as
its documentation describes: a subclass of `BaseIdentification` that loads the data, a
configuration file, `initialize` and `solve`.

"""

from __future__ import annotations

from contextlib import redirect_stdout
import io
import json
import logging
from pathlib import Path
import sys
import tempfile
import time
from typing import Any
import warnings

import numpy as np

CONFIGURATION = """
schema_version: "2.0"
robot:
  name: arm
  properties:
    joints:
      active_joints: {joints}
    mechanics: {{friction_coefficients: {{viscous: {zeros}, static: {zeros}}},
      actuator_inertias: {rotors}, joint_offsets: {zeros}}}
tasks:
  identification:
    type: dynamic_identification
    problem:
      include_external_forces: false
      use_joint_torques: true
      model_components: {{friction: true, actuator_inertia: {rotor}, joint_offset: true}}
    signal_processing:
      sampling_frequency: {rate}
      cutoff_frequency: {cutoff}
      filter_params: {{nbutter: 4, med_fil: 5}}
    select_stage: {stage}
"""


def main() -> None:
    """Read the files named on the command line, identify, and write the result."""
    given, result, urdf = sys.argv[1:4]
    warnings.simplefilter('ignore')
    logging.disable(logging.WARNING)
    from figaroh.tools.load_robot import load_robot  # type: ignore[import-not-found]

    arrays = dict(np.load(given, allow_pickle=False))
    settings = json.loads(str(arrays.pop('settings')))
    robot = load_robot(urdf, package_dirs=str(Path(urdf).parent), load_by_urdf=True)
    found: dict[str, Any] = {}
    for stage, has_weights in (('fit', True), ('physical_fit', True), ('physical_fit', False)):
        if not str(found.get('physical_fit_status', '')).startswith('accepted'):
            found.update(identified(robot, arrays, settings, stage, has_weights))
        if stage == 'fit':  # the better one of two, as the machine may be busy
            again = identified(robot, arrays, settings, stage, has_weights)
            found = min(found, again, key=lambda one: float(one['fit_seconds'].sum()))
    np.savez(result, **found)


def identified(
    robot: Any,
    arrays: dict[str, np.ndarray],
    settings: dict[str, Any],
    stage: str,
    has_weights: bool,
) -> dict[str, Any]:
    """Return parameters in the order of FIGAROH's columns, wall times, and what it says."""
    nv = robot.model.nv
    text = CONFIGURATION.format(
        joints=json.dumps(list(robot.model.names)[1:]),
        zeros=[0.0] * nv,
        rotors=settings['rotors'],
        rotor=str(settings['has_rotors']).lower(),
        rate=settings['rate'],
        cutoff=settings['cutoff'],
        stage=stage,
    )
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        path = Path(folder) / 'configuration.yaml'
        path.write_text(text)
        arm = arm_class()(robot, str(path), arrays, settings['is_prepared'])
        start = time.perf_counter()
        arm.initialize()
        middle = time.perf_counter()
        factor = settings['decimation']
        arm.solve(decimate=factor > 1, decimation_factor=factor, plotting=False, wls=has_weights)
        end = time.perf_counter()
    theta = np.zeros(len(arm.standard_parameter))
    said = 'accepted'
    if stage == 'fit':
        kept = np.delete(np.arange(len(theta)), arm._idx_eliminated)
        theta[kept[arm._base_indices]] = arm.phi_base
    else:
        record = arm._physical_fit['record']
        said = f'{arm.selected.status}: {arm.selected.reason}'
        said += '' if has_weights else ', without weights'
        if record is not None and record.exception:
            said += f' ({record.exception})'
        theta = np.full(len(theta), np.nan)
        if arm.selected.values is not None:
            theta = np.asarray(arm.selected.values, dtype=float)
    return {
        f'{stage}_parameters': theta,
        f'{stage}_seconds': np.array([middle - start, end - middle]),
        f'{stage}_rows': arm.tau_noised.size // nv,
        f'{stage}_rank': len(arm.phi_base),
        f'{stage}_status': said,
    }


def arm_class() -> type:
    """Return the subclass that FIGAROH asks for, made where FIGAROH is imported."""
    from figaroh.identification.base_identification import (  # type: ignore[import-not-found]
        BaseIdentification,
    )

    class Arm(BaseIdentification):  # type: ignore[misc]
        def __init__(
            self, robot: Any, path: str, arrays: dict[str, np.ndarray], is_prepared: bool
        ) -> None:
            super().__init__(robot, path)
            self.identif_config['act_idxq'] = list(range(robot.model.nq))
            self.identif_config['act_idxv'] = list(range(robot.model.nv))
            self.arrays = arrays
            self.is_prepared = is_prepared

        def load_trajectory_data(self, data_source: str | None = None) -> dict[str, Any]:
            names = ('timestamps', 'positions', 'velocities', 'accelerations', 'torques')
            return {name: self.arrays.get(name) for name in names}

        def process_kinematics_data(self, filter_config: Any = None) -> None:
            if self.is_prepared:
                self.processed_data = dict(self.raw_data)
            else:
                super().process_kinematics_data(filter_config)

        def process_torque_data(self, **kwargs: Any) -> np.ndarray:
            torques: np.ndarray = self.raw_data['torques']
            if not self.is_prepared:  # the same filter as the motion's, as in its examples
                torques = self._apply_filters(torques, **self.filter_config['filter_params'])
            return torques

    return Arm

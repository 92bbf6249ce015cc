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

"""The comparison of one robot with Pinocchio over random states."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.tree import arrange_tree
from robot_dynamics_ros.crosscheck.report import CrosscheckReport, TOLERANCE

MAX_VELOCITIES = 200
"""
Largest size that is handed to Pinocchio.

Its data structure holds tensors of nv^3 numbers (2 s and 0.3 GB at 200; at 1500 it raises
MemoryError or is killed).

"""

MAX_DEPTH = 500
"""Longest chain of joints handed to Pinocchio, whose reader recurses (it crashes at 5000)."""

FRAMES_PER_SAMPLE = 4
"""Frames compared in each sample; the samples take turns through all of them."""


def crosscheck_model(
    model: RobotModel, samples: int = 20, seed: int = 0, tolerance: float = TOLERANCE
) -> CrosscheckReport:
    """
    Compare every quantity of a robot that Pinocchio has with Pinocchio, over random states.

    Parameters
    ----------
    model : RobotModel
        The robot, with its options: base, locks, payload, armature, gravity.
    samples : int
        Number of states, at least 1.
    seed : int
        Of the generator of the states, at least 0.
    tolerance : float
        Largest relative difference that passes.

    Returns
    -------
    report : CrosscheckReport
        Its `skipped` says why, where nothing could be compared: Pinocchio is missing, cannot build
        the robot or cannot hold it. A robot that differs is no exception, but a report with `ok`
        false.

    Raises
    ------
    ConfigurationError
        If `samples` is less than 1 or `seed` less than 0.

    Examples
    --------
    >>> from robot_dynamics_ros.core.model.urdf import load_urdf
    >>> model = load_urdf('<robot name="none"><link name="base"/></robot>')
    >>> crosscheck_model(model).summary
    "cross-check of 'none' skipped: no joint moves"

    """
    if samples < 1:
        raise ConfigurationError(f'samples is {samples}, expected at least 1')
    if seed < 0:
        raise ConfigurationError(f'seed is {seed}, expected at least 0')

    def skipped(reason: str, version: str = '') -> CrosscheckReport:
        return CrosscheckReport(model.name, samples, seed, version, skipped=reason)

    if not model.joints:
        return skipped('no joint moves')
    try:
        import pinocchio
    except ImportError as error:
        return skipped(f'Pinocchio is not installed (pip install pin): {error}')
    version = str(pinocchio.__version__)
    free = _free_velocities(model)
    if free > MAX_VELOCITIES:
        return skipped(
            f'{free} degrees of freedom are too many for Pinocchio, whose memory grows with their '
            f'cube (limit here: {MAX_VELOCITIES})',
            version,
        )
    depth = _depth(model)
    if depth > MAX_DEPTH:
        return skipped(
            f'a chain of {depth} joints is too deep for Pinocchio, which reads it by recursion '
            f'(limit here: {MAX_DEPTH})',
            version,
        )
    try:
        return _compared(pinocchio, version, model, samples, seed, tolerance)
    except MemoryError:
        return skipped('Pinocchio ran out of memory: the tree is too deep for it', version)


def _free_velocities(model: RobotModel) -> int:
    """Return nv of the robot as Pinocchio reads it: no joint is locked or mimics another yet."""
    widths = {'planar': 3, 'floating': 6, 'fixed': 0}
    joints = sum(widths.get(joint.type.value, 1) for joint in model.description.joints)
    return joints + (6 if model.options.floating_base else 0)


def _depth(model: RobotModel) -> int:
    """Return the number of joints on the longest way from the root to a leaf."""
    depths: dict[str, int] = {}
    for joint in arrange_tree(model.description).joints:  # parents come before children
        depths[joint.child] = depths.get(joint.parent, 0) + 1
    return max(depths.values(), default=0)


def _compared(
    pinocchio: ModuleType, version: str, model: RobotModel, samples: int, seed: int, tol: float
) -> CrosscheckReport:
    # Imported here: these modules need the compiled dynamics.
    from robot_dynamics_ros.crosscheck.ledger import Ledger
    from robot_dynamics_ros.crosscheck.sample import random_state, Reference
    from robot_dynamics_ros.crosscheck.twin import PinocchioTwin

    try:
        twin = PinocchioTwin(pinocchio, model)
    except (ValueError, RuntimeError) as error:
        reason = ' '.join(str(error).split())
        return CrosscheckReport(
            model.name,
            samples,
            seed,
            version,
            skipped=f'Pinocchio cannot build the robot: {reason}',
        )
    rng = np.random.default_rng(seed)
    ledger = Ledger(tol)
    frames = list(twin.frame_ids)
    per_sample = min(len(frames), max(FRAMES_PER_SAMPLE, -(-len(frames) // samples)))
    for sample in range(samples):
        start = sample * per_sample
        names = [frames[(start + k) % len(frames)] for k in range(per_sample)]
        ledger.add_state(Reference(twin, random_state(twin, rng)), names)
    notes = ledger.notes
    if len(twin.right_jacobian_rates) < 3:
        right = ', '.join(sorted(twin.right_jacobian_rates)).lower()
        notes = [*notes, f'frame_jacobian_time_variation compared in {right} only: the others are '
                 f'wrong in Pinocchio {version}']  # fmt: skip
    return CrosscheckReport(model.name, samples, seed, version, tuple(ledger.rows()), tuple(notes))

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
Whether an identified model may be used: measures on data it has not seen, and checks.

With measured :math:`\tau` and model :math:`\hat\tau` of the held-out samples, for each joint the
root mean square of the error, the same relative to :math:`\tau`, and

.. math:: R^2 = 1 - \frac{\sum (\tau - \hat\tau)^2}{\sum (\tau - \bar\tau)^2},
          \qquad e = \frac{\|\tau - \hat\tau\|_F}{\|\tau\|_F}

over all joints. A small error does not make a model usable: a fit of one percent can have a mass
matrix that is not positive definite anywhere. So each property that a user of the model relies on
is a check of its own, and a model that fails one is not written unless it is marked.

References
----------
.. [1] C. D. Sousa, R. Cortesao, "Physical feasibility of robot base inertial parameter
   identification: A linear matrix inequality approach", IJRR 33(6), 2014 (how often the mass
   matrix of plain fits is not positive).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import crba_batch
from robot_dynamics_ros.core.identification.base_parameters import random_positions
from robot_dynamics_ros.core.identification.possible_bodies import body_pseudo_inertia, SIZE
from robot_dynamics_ros.core.model.robot_model import RobotModel

POSES = 1000
"""Random poses in which the mass matrix is looked at."""

LARGEST_CONDITION = 1e4
"""Of the weighted columns: beyond it, errors of the data become anything."""

LARGEST_ERROR = 0.5
"""Relative error on held-out data: a model beyond it explains less than it leaves."""

WORSE = 1.05
"""Part of the error of the description up to which a model counts as no worse: noise decides."""

LARGEST_JOINT_ERROR = 0.7
"""Of a single joint: beyond it half of the power of its effort is not explained."""

NOTED_JOINT_ERROR = 0.2
"""Of a single joint, beyond which it is compared with that of the description."""

WORSE_JOINT = 1.5
"""Part of the description's error of a joint up to which a model counts as no worse there."""

LEAST_VALUES = 20.0
"""Independent values of each filtered effort, two in a period of the cutoff, that verify."""

LEAST_SPEED = 0.2
"""Largest speed of a joint in the held-out data, in parts of that in the training data."""

LARGEST_FILE_COST = 0.02
"""Of what the files cannot hold, in relative error on held-out data, over the fit."""

LARGEST_PHASE = 0.05
"""That a delay of the efforts may be at the highest frequency of the motion [rad]."""

CUTOFF_PER_MOTION = 8.0
"""Cutoff over that frequency, see `excitation_spectrum`."""

WORTH_MOVING = 0.9
"""A delay is believed if the errors without it are below this part of those with it."""

MASS_FACTOR = 2.0
"""By which the identified moving mass may differ from the described one."""

LARGEST_COST = 0.01
"""Of consistency, in relative error on held-out data, over the plain fit."""


@dataclass(frozen=True)
class JointMeasure:
    """
    Agreement of one joint.

    Attributes
    ----------
    joint : str
    samples : int
        Compared.
    rms, rmse : float
        Of the measured effort and of the error [N m | N].
    relative : float or None
        ``rmse / rms``.
    r_squared : float or None
        See the module; None for a constant effort.

    """

    joint: str
    samples: int
    rms: float
    rmse: float
    relative: float | None
    r_squared: float | None


@dataclass(frozen=True)
class Measure:
    """
    Agreement of all joints.

    Attributes
    ----------
    joints : tuple of JointMeasure
    relative : float or None
        Over all joints; None if nothing was measured.

    """

    joints: tuple[JointMeasure, ...]
    relative: float | None


@dataclass(frozen=True)
class Check:
    """
    One property of an identified model.

    Attributes
    ----------
    name : str
        Stable identifier.
    is_passed : bool
    message : str
        One sentence: what came, what was expected.

    """

    name: str
    is_passed: bool
    message: str


@dataclass(frozen=True)
class Verdict:
    """
    All checks.

    Attributes
    ----------
    checks : tuple of Check

    """

    checks: tuple[Check, ...]

    @property
    def is_fit(self) -> bool:
        """Whether the model may be used."""
        return all(check.is_passed for check in self.checks)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why it may not be used."""
        return tuple(check.message for check in self.checks if not check.is_passed)


def measured_agreement(
    joint_names: Sequence[str], measured: Matrix, model: Matrix, use: NDArray[np.bool_]
) -> Measure:
    """
    Compare efforts.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the columns.
    measured, model : ndarray, shape (n, nv)
        Efforts [N m | N].
    use : ndarray of bool, shape (n, nv)
        Which samples count.

    """
    joints = []
    squares = np.zeros(2)
    for j, name in enumerate(joint_names):
        tau, error = measured[use[:, j], j], (measured - model)[use[:, j], j]
        total, left = float(tau @ tau), float(error @ error)
        squares += (left, total)
        count = max(1, len(tau))
        around = float(np.sum((tau - tau.mean()) ** 2)) if len(tau) else 0.0
        joints.append(
            JointMeasure(
                joint=name,
                samples=len(tau),
                rms=float(np.sqrt(total / count)),
                rmse=float(np.sqrt(left / count)),
                relative=float(np.sqrt(left / total)) if total > 0.0 else None,
                r_squared=1.0 - left / around if around > 1e-12 * total else None,
            )
        )
    relative = float(np.sqrt(squares[0] / squares[1])) if squares[1] > 0.0 else None
    return Measure(tuple(joints), relative)


def check_held_out(error: float | None, described: float | None) -> Check:
    """Check that the model explains data it has not seen, better than the description does."""
    name = 'held-out'
    if error is None:
        return Check(name, False, 'no held-out effort was measured: nothing verifies the model')
    text = f'{100.0 * error:.3g} % relative error on held-out data'
    if error > LARGEST_ERROR:
        return Check(name, False, f'{text}, expected at most {100.0 * LARGEST_ERROR:g} %')
    if described is not None and error > WORSE * described:
        better = f'{100.0 * described:.3g} %'
        return Check(name, False, f'{text}, more than the {better} of the description itself')
    return Check(name, True, text)


def check_joints(joints: Sequence[JointMeasure], described: Sequence[JointMeasure]) -> Check:
    """
    Check that the effort of every joint is explained: a heavy one hides the others in the whole.

    Parameters
    ----------
    joints, described : sequence of JointMeasure
        Of the model and of the description, on held-out data.

    """
    wrong = []
    most = max((joint.samples for joint in joints), default=0)
    for joint, other in zip(joints, described):
        if joint.samples < 0.5 * most or joint.relative is None or joint.r_squared is None:
            missing = joint.samples < 0.5 * most
            wrong.append(f'{joint.joint} has {"hardly any" if missing else "a constant"} effort')
        elif joint.relative > LARGEST_JOINT_ERROR:
            wrong.append(f'{joint.joint} has {100.0 * joint.relative:.3g} % error')
        elif (
            other.relative is not None
            and joint.relative > NOTED_JOINT_ERROR
            and joint.relative > WORSE_JOINT * other.relative
        ):
            wrong.append(
                f'{joint.joint} has {100.0 * joint.relative:.3g} % error, with the description '
                f'{100.0 * other.relative:.3g} %'
            )
    if wrong or not joints:
        text = '; '.join(wrong) or 'nothing was held out'
        limit = f'expected at most {100.0 * LARGEST_JOINT_ERROR:g} % for each joint'
        return Check('joints', False, f'in held-out data {text}: {limit}')
    worst = max(joints, key=lambda joint: joint.relative or 0.0)
    largest = 100.0 * (worst.relative or 0.0)
    return Check('joints', True, f'each joint is explained, {worst.joint} to {largest:.3g} %')


def check_motion(
    joint_names: Sequence[str], fitted: Vector, verified: Vector, duration: float, cutoff: float
) -> Check:
    """
    Check that the held-out data move as the training data do, for long enough.

    Parameters
    ----------
    joint_names : sequence of str
        Joints.
    fitted, verified : ndarray, shape (nv,)
        Largest speed of each in training and in held-out data [rad/s | m/s].
    duration : float
        Of the held-out data [s].
    cutoff : float
        Of the filter [Hz].

    """
    name, least = 'held-out motion', 0.5 * LEAST_VALUES / cutoff
    if duration < least:
        text = f'{duration:.3g} s are held out, expected at least {least:.3g} s at this cutoff'
        return Check(name, False, text)
    idle = [
        joint for joint, v, w in zip(joint_names, fitted, verified) if not w >= LEAST_SPEED * v
    ]
    if idle:
        text = (
            f'{", ".join(idle)} hardly move in the held-out data, so that only weight is verified '
            'there: hold out another part (--train, --until) or another log (--test)'
        )
        return Check(name, False, text)
    return Check(name, True, f'all joints move in {duration:.3g} s of held-out data')


def check_files(files: float | None, identified: float | None) -> Check:
    """Check that URDF and friction file hold what was identified."""
    if files is None or identified is None:
        return Check('files', False, 'no held-out effort was measured')
    cost = files - identified
    text = f'what URDF and friction file cannot hold costs {100.0 * cost:+.2f} points'
    if cost <= LARGEST_FILE_COST:
        return Check('files', True, text)
    way_out = 'constant efforts, motors that turn with two joints, or a speed below the smoothing'
    return Check(
        'files', False, f'{text}, expected at most {100.0 * LARGEST_FILE_COST:g}: {way_out}'
    )


def check_delay(delay: float, share: float, cutoff: float) -> Check:
    """
    Check that efforts are stamped when they act: late ones are taken for friction.

    Parameters
    ----------
    delay : float
        By how much they seem to be stamped too late [s].
    share : float
        Part of the errors that would be left without it.
    cutoff : float
        Of the filter [Hz].

    """
    largest = LARGEST_PHASE * CUTOFF_PER_MOTION / (2.0 * np.pi * cutoff)
    text = f'efforts seem to be stamped {1e3 * delay:+.1f} ms late'
    if abs(delay) <= largest or share > WORTH_MOVING:
        return Check('delay', True, text)
    way_out = f'taken for friction; move them back (--effort-delay {delay:.3g}) or mend the stamps'
    return Check('delay', False, f'{text}, expected at most {1e3 * largest:.2g} ms: {way_out}')


def check_cost(consistent: float | None, plain: float | None) -> Check:
    """Check that consistency did not spoil the fit."""
    if consistent is None or plain is None:
        return Check('consistency cost', False, 'no held-out effort was measured')
    cost = consistent - plain
    text = f'consistency costs {100.0 * cost:+.2f} points over the plain fit'
    limit = f'expected at most {100.0 * LARGEST_COST:g}: structure, sign or unit may be wrong'
    passed = cost <= LARGEST_COST
    return Check('consistency cost', passed, text if passed else f'{text}, {limit}')


def check_minimum(is_settled: bool) -> Check:
    """Check that the consistent fit found its minimum."""
    text = 'the consistent fit found its minimum'
    if is_settled:
        return Check('minimum', True, text)
    way_out = 'the consistent fit did not settle: the data contradict every possible robot'
    return Check('minimum', False, way_out)


def check_condition(condition: float, rank: int) -> Check:
    """Check that the motion shows the parameters."""
    text = f'condition number {condition:.3g} of {rank} base parameters'
    if condition <= LARGEST_CONDITION:
        return Check('excitation', True, text)
    way_out = (
        f'{text}, expected at most {LARGEST_CONDITION:g}: the motion does not show all of them; '
        'record one that moves all joints, faster and further'
    )
    return Check('excitation', False, way_out)


def check_bodies(robot: RobotModel, inertial: Vector) -> Check:
    """Check that every body is possible."""
    wrong = []
    for name, body in zip(robot.body_names, inertial.reshape(-1, SIZE)):
        pseudo = body_pseudo_inertia(body)
        if np.linalg.eigvalsh(pseudo)[0] <= 0.0:
            wrong.append(name)
    if wrong:
        return Check('bodies', False, f'no body can have the inertia of {", ".join(wrong)}')
    return Check('bodies', True, f'all {robot.nbodies} pseudo-inertias are positive definite')


def check_friction(names: Sequence[str], values: Vector, nonnegative: NDArray[np.bool_]) -> Check:
    """Check that friction takes energy and rotors have inertia."""
    wrong = [name for name, value, bound in zip(names, values, nonnegative) if bound and value < 0]
    if wrong:
        return Check('friction', False, f'negative: {", ".join(wrong)}')
    return Check('friction', True, 'friction and rotor inertias are not negative')


def check_mass_matrix(robot: RobotModel, poses: int = POSES, seed: int = 0) -> Check:
    """Check that the mass matrix of the written model is positive definite in random poses."""
    q = random_positions(robot, poses, np.random.default_rng(seed))
    smallest = np.linalg.eigvalsh(crba_batch(robot, q))[:, 0]
    bad = int(np.count_nonzero(smallest <= 0.0))
    text = f'mass matrix positive definite in {poses - bad} of {poses} random poses'
    detail = f'{text} (smallest eigenvalue {smallest.min():.3g})'
    return Check('mass matrix', bad == 0, detail)


def check_mass(identified: float, described: float) -> Check:
    """Check that the mass is credible."""
    text = f'moving mass {identified:.4g} kg, {described:.4g} kg in the description'
    if described <= 0.0:
        return Check('mass', True, text)
    ratio = identified / described
    passed = 1.0 / MASS_FACTOR <= ratio <= MASS_FACTOR
    return Check('mass', passed, text if passed else f'{text}: more than a factor {MASS_FACTOR:g}')


def check_signs(joint_names: Sequence[str], described: Matrix, measured: Matrix) -> Check:
    """
    Check sign and unit of the efforts against those of the description.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the columns.
    described, measured : ndarray, shape (n, nv)
        Efforts by the description and measured [N m | N].

    """
    wrong = []
    for j, name in enumerate(joint_names):
        size = float(np.linalg.norm(described[:, j]) * np.linalg.norm(measured[:, j]))
        largest = float(np.linalg.norm(described, axis=0).max(initial=0.0))
        # Only joints that the description gives something to carry.
        if size > 0.0 and np.linalg.norm(described[:, j]) > 0.2 * largest:
            alike = float(described[:, j] @ measured[:, j]) / size
            gain = alike * float(np.linalg.norm(measured[:, j]) / np.linalg.norm(described[:, j]))
            if alike < -0.3:
                wrong.append(f'{name} has the opposite sign (gain {gain:.2g})')
            elif alike > 0.5 and not 0.1 < gain < 10.0:
                wrong.append(f'{name} is {gain:.2g} times that of the description')
    if wrong:
        return Check('effort', False, f'effort of {"; ".join(wrong)}: sign and unit?')
    return Check('effort', True, 'sign and unit of the efforts agree with the description')


def check_gravity(errors: dict[tuple[float, ...], float], given: tuple[float, ...]) -> Check:
    """
    Check the direction of gravity against the axes of the base.

    Parameters
    ----------
    errors : mapping of tuple of float to float
        Error of a fit under each gravity.
    given : tuple of float
        The one that was used.

    """
    best = min(errors, key=lambda gravity: errors[gravity])
    if errors[best] < 0.5 * errors[given]:
        text = ' '.join(f'{value:g}' for value in best)
        message = (
            f'with {text} [m/s^2] as gravity the error is {errors[best] / errors[given]:.2g} '
            f'times that with the given one: is the base mounted so? (--gravity {text})'
        )
        return Check('gravity', False, message)
    return Check('gravity', True, 'no other axis of the base explains the efforts as gravity')

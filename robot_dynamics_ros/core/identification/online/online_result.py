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

"""The model that was learnt while the robot moved, judged as far as that takes no log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.identified_model import (
    identified_model,
    IdentifiedModel,
)
from robot_dynamics_ros.core.identification.online.online_identification import (
    OnlineIdentification,
)
from robot_dynamics_ros.core.identification.online.static_friction import with_static_friction
from robot_dynamics_ros.core.identification.verdict import (
    check_bodies,
    check_friction,
    check_mass,
    check_minimum,
    Verdict,
)

PRIOR_WEIGHT = 1.0
"""Of the description in the consistent fit, where no identification has chosen one."""


@dataclass(frozen=True, eq=False)
class OnlineResult:
    """
    What is known after some time.

    Attributes
    ----------
    parameters : ndarray, shape (p,)
        All parameters; physically consistent.
    base : ndarray, shape (rank,)
        The combinations that efforts determine.
    covariance : ndarray, shape (rank, rank)
        Of these: of the friction from its tracker, of the rest from that of the base parameters.
    identified : IdentifiedModel
        What is written of it.
    verdict : Verdict
        Whether it may be used.
    seconds : ndarray, shape (nv,)
        Motion of each joint that it was learnt from [s].

    """

    parameters: Vector
    base: Vector
    covariance: Matrix
    identified: IdentifiedModel
    verdict: Verdict
    seconds: Vector


def online_result(
    online: OnlineIdentification, prior_weight: float = PRIOR_WEIGHT
) -> OnlineResult:
    """
    Make a model of what was learnt so far; takes up to a second.

    Parameters
    ----------
    online : OnlineIdentification
        What has learnt.
    prior_weight : float
        Of the description in the consistent fit.

    Raises
    ------
    ConfigurationError
        If the weight is not above zero.

    """
    model = online.start.model
    fit = online.consistent_fit(prior_weight)
    n, parameters = model.n_inertial, fit.parameters
    verdict = Verdict(
        (
            check_minimum(fit.is_settled),
            check_bodies(model.robot, parameters[:n]),
            check_friction(model.names[n:], parameters[n:], model.nonnegative),
            check_mass(float(parameters[:n:10].sum()), float(model.prior[:n:10].sum())),
        )
    )
    written = identified_model(model, parameters)
    joints = with_static_friction(written.joint_friction, online.friction.static_friction)
    return OnlineResult(
        parameters=parameters,
        base=fit.base,
        covariance=frozen(_covariance(online)),
        identified=replace(written, joint_friction=joints),
        verdict=verdict,
        seconds=frozen(online.base.seconds.copy()),
    )


def _covariance(online: OnlineIdentification) -> Matrix:
    covariance = np.array(online.base.covariance)
    columns = online.friction.columns
    covariance[columns] = 0.0
    covariance[:, columns] = 0.0
    covariance[np.ix_(columns, columns)] = online.friction.covariance
    return covariance

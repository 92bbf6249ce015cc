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

"""What reports of identifications say of parameters, as plain values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel


def parameter_entries(
    model: IdentificationModel,
    parameters: Vector,
    base: Vector,
    covariance: Matrix,
    plain: Vector | None = None,
) -> dict[str, Any]:
    """
    Return all parameters, and the combinations that efforts depend on.

    Parameters
    ----------
    model : IdentificationModel
        What was fitted.
    parameters : ndarray, shape (p,)
        All parameters.
    base : ndarray, shape (rank,)
        The combinations.
    covariance : ndarray, shape (rank, rank)
        Of these.
    plain : ndarray, shape (rank,), optional
        The combinations by a fit that asks nothing of the bodies.

    Returns
    -------
    entries : dict
        ``parameters``, ``base_parameters`` and ``base_covariance``, as `read_offline_result` reads
        them.

    """
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist()
    combinations: list[dict[str, Any]] = [
        {'formula': formula, 'unit': model.units[lead], 'value': value}
        for formula, lead, value in zip(
            model.base.formulas(), model.base.independent, base.tolist()
        )
    ]
    for k, entry in enumerate(combinations):
        if plain is not None:
            entry['plain_fit'] = float(plain[k])
        entry['deviation'] = deviation[k]
    return {
        'parameters': [
            {'name': name, 'unit': unit, 'value': value, 'description': stated}
            for name, unit, value, stated in zip(
                model.names, model.units, parameters.tolist(), model.prior.tolist()
            )
        ],
        'base_parameters': combinations,
        'base_covariance': covariance.tolist(),
    }

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
The consistent fit as a convex problem with linear matrix inequalities.

.. math:: \min_{P_i \succ 0,\; \phi \ge 0} \; \|A\,K\,[\pi(P); \phi] - b\|^2
          + \lambda \sum_i D(P_i \| P_{0,i}) + \lambda \sum_k ((\phi_k - \phi_{0,k}) / s_k)^2

The same minimum as that of `consistent_fit`, found by an interior-point method (cvxpy with
Clarabel, which are imported when used) without any start: an independent answer to compare with.

References
----------
.. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear Matrix Inequalities for Physically Consistent
   Inertial Parameter Identification", IEEE RA-L 3(1), 2018.
.. [2] T. Lee, P. Wensing, F. Park, "Geometric Robot Dynamic Identification: A Convex Programming
   Approach", IEEE T-RO 36(2), 2020.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import (
    check_prior_weight,
    consistent_problem,
    ConsistentFit,
)
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.least_squares import LinearFit
from robot_dynamics_ros.core.identification.possible_bodies import (
    parameters_of_pseudo_inertia,
    SIZE,
)


def lmi_fit(model: IdentificationModel, fit: LinearFit, weight: float = 1.0) -> ConsistentFit:
    """
    Fit bodies that can exist and friction that takes energy, by convex optimisation.

    Parameters
    ----------
    model : IdentificationModel
        What is fitted; its robot is the prior.
    fit : LinearFit
        A linear fit of the same data, for its weights.
    weight : float
        Of the prior, above zero.

    Raises
    ------
    ConfigurationError
        If the weight is not above zero, cvxpy is not installed, or the solver finds no minimum.

    """
    check_prior_weight(weight)
    try:
        import cvxpy
    except ImportError as error:
        raise ConfigurationError(
            'the fit by matrix inequalities needs cvxpy and clarabel (pip install cvxpy clarabel)'
        ) from error
    problem = consistent_problem(model, fit)
    n = problem.n_inertial
    drives = cvxpy.Variable(len(problem.scales))
    # In the coordinates of the prior, where every body is of the size of the unit matrix.
    roots = np.linalg.cholesky(problem.prior_bodies)
    bodies = [cvxpy.Variable((4, 4), PSD=True) for _ in roots]
    inertial = [
        _parameter_map(root) @ cvxpy.vec(body, order='F') for root, body in zip(roots, bodies)
    ]
    errors = problem.triangle @ cvxpy.hstack([*inertial, drives]) - problem.right
    apart = sum(cvxpy.trace(body) - cvxpy.log_det(body) - 4.0 for body in bodies)
    away = cvxpy.sum_squares(cvxpy.multiply(drives - problem.prior[n:], 1.0 / problem.scales))
    # Minimised in units of the number of rows, so that the solver's tolerance is relative.
    unit = max(1.0, float(problem.right @ problem.right))
    objective = (cvxpy.sum_squares(errors) + weight * (apart + away)) / unit
    bounded = np.flatnonzero(np.isfinite(problem.lower))
    statement = cvxpy.Problem(cvxpy.Minimize(objective), [drives[bounded] >= 0.0])
    try:
        statement.solve(solver=cvxpy.CLARABEL)
    except cvxpy.error.SolverError as error:
        raise ConfigurationError(f'the fit by matrix inequalities failed: {error}') from error
    if statement.status not in ('optimal', 'optimal_inaccurate'):
        raise ConfigurationError(f'the fit by matrix inequalities is {statement.status}')
    parameters = np.concatenate([*(part.value for part in inertial), drives.value])
    steps: Any = statement.solver_stats.num_iters
    return ConsistentFit(
        parameters=frozen(parameters),
        base=frozen(model.base.to_base(parameters)),
        objective=float(statement.value * unit),
        steps=int(steps or 0),
        is_settled=statement.status == 'optimal',
    )


def _parameter_map(root: Matrix) -> Matrix:
    """Return the matrix from a whitened pseudo-inertia, column by column, to ten parameters."""
    columns = []
    for k in range(16):
        unit = np.zeros((4, 4))
        unit[k % 4, k // 4] = 1.0
        pseudo = root @ unit @ root.T
        columns.append(parameters_of_pseudo_inertia(0.5 * (pseudo + pseudo.T)))
    return np.column_stack(columns).reshape(SIZE, 16)

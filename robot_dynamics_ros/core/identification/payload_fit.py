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
The payload of an arm from its efforts: mass, centre of mass and inertia, with their uncertainty.

Two ways tell it from the arm. From a run without and a run with it, on any motions, all parameters
of the arm and of its friction are fitted together with the ten of the payload: what both runs
share cancels; friction may have drifted between them, if it is said. From one run with it, the
arm's parameters must be known; friction, which drifts with temperature, is fitted again unless it
is told to stay. Samples of joints at rest should be left out (`without_standstill`): friction
holds them with any effort.

The weighted least squares fit gives the ten parameters :math:`\hat\varphi` and their covariance
:math:`C` under correlated errors (`covariance`). From these the payload is the body

.. math:: \min_{P \succ 0} \;
          (\varphi(P) - \hat\varphi)^T C^{-1} (\varphi(P) - \hat\varphi) + \lambda\,D(P \| P_0)

with the log-det divergence of `possible_bodies`: a body that can exist, that is the prior where
the motion shows nothing. Its covariance is the inverse of :math:`C^{-1} + \lambda H_D / 2`, with
the Hessian :math:`H_D` of the divergence. A parameter counts as determined if its standard
deviation is below half of what the prior has by itself.

References
----------
.. [1] J. Swevers, W. Verdonck, B. Naumer, S. Pieters, E. Biber, "An Experimental Robot Load
   Identification Method for Industrial Application", IJRR 21(8), 2002.
.. [2] T. Lee, P. Wensing, F. Park, "Geometric Robot Dynamic Identification: A Convex Programming
   Approach", IEEE T-RO 36(2), 2020.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import (
    check_prior_weight,
    ConsistentProblem,
    solved,
)
from robot_dynamics_ros.core.identification.covariance import base_covariance
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.identified_model import inertial_of_parameters
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import LinearFit, weighted_least_squares
from robot_dynamics_ros.core.identification.payload_columns import (
    LoadedModel,
    moving_frame,
    rotational_of,
    six_of,
)
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    possible_prior,
    SIZE,
    UNIT_BODIES,
)
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.spatial.rotation import skew

REACH = 0.1
"""Root mean square distance of the prior's mass from the frame, in each direction [m]."""

PRIOR_MASS = 1.0
"""Mass of the prior while the data are not known to tell it [kg]."""

DETERMINED = 0.5
"""A parameter's standard deviation must fall below this part of the prior's."""

VISIBLE = 1e-7
"""Combinations are not seen if other columns explain them up to this part of all."""

QUANTITIES = ('mass', 'com x', 'com y', 'com z', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
"""Mass, centre of mass, and inertia about it, as the nodes' parameters have them."""


@dataclass(frozen=True, eq=False)
class PayloadFit:
    """
    An identified payload.

    Attributes
    ----------
    payload : Payload
        A body that can exist, expressed in the frame that was asked for.
    parameters : ndarray, shape (10,)
        ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` about the frame's origin.
    covariance : ndarray, shape (10, 10)
        Of these parameters, data and prior together.
    linear : ndarray, shape (10,)
        What least squares alone gives; it may be no possible body.
    deviation : ndarray, shape (10,)
        Standard deviations of these; zero where the data show nothing.
    condition : float
        Condition number of the regression; infinite if it does not show all parameters.
    spread : ndarray, shape (nv,)
        Standard deviation of the errors of each joint [N m | N].
    value_deviation : ndarray, shape (10,)
        Standard deviation of each of `values` [kg, m, kg m^2], data and prior together.
    share : ndarray, shape (10,)
        Of each of `QUANTITIES`: its standard deviation relative to that of the prior.
    correlation_time : float
        Of the errors [s].
    errors, errors_without : ndarray, shape (nv,)
        Errors of the efforts of each joint with the payload and with the best fit without it,
        relative to its efforts; those of a known arm are taken off before.

    """

    payload: Payload
    parameters: Vector
    covariance: Matrix
    linear: Vector
    deviation: Vector
    condition: float
    spread: Vector
    value_deviation: Vector
    share: Vector
    correlation_time: float
    errors: Vector
    errors_without: Vector

    @property
    def values(self) -> Vector:
        """Return `QUANTITIES`, shape (10,)."""
        return payload_quantities(self.parameters)

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Return the quantities that the motion hardly shows: they are those of the prior."""
        shares = zip(QUANTITIES, self.share.tolist())
        return tuple(name for name, share in shares if share > DETERMINED)

    def node_parameters(self) -> dict[str, object]:
        """Return the payload as parameters of the nodes, by name."""
        values = self.values.tolist()
        return {
            'payload.mass': values[0],
            'payload.frame': self.payload.frame,
            'payload.com': values[1:4],
            'payload.inertia': values[4:],
        }


def payload_from_two_motions(
    model: IdentificationModel,
    unloaded: Sequence[JointSamples],
    loaded: Sequence[JointSamples],
    frame: str,
    cutoff: float | None,
    *,
    refit_drives: bool = False,
    prior: Payload | None = None,
    weight: float = 1.0,
) -> PayloadFit:
    """
    Identify a payload from motions without and with it.

    Parameters
    ----------
    model : IdentificationModel
        The arm; its parameters are fitted to all motions, its description is not looked at.
    unloaded, loaded : sequence of JointSamples
        The motions; they need not be the same.
    frame : str
        Link or joint frame that holds the payload, in which it is expressed.
    cutoff : float or None
        Of the filter of regressor and efforts [Hz].
    refit_drives : bool
        Whether friction and offsets may differ between the motions without and with it.
    prior : Payload, optional
        What is known, in the same frame; a body of the identified mass that reaches `REACH`
        around the frame's origin if nothing is, and then the motion must show the mass.
    weight : float
        Of the prior, above zero.

    Raises
    ------
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move, the prior is expressed in another frame or has no mass, the
        weight is not above zero, the filter does not suit the samples, none of them can be used,
        or they do not show the mass and there is no prior.
    DimensionError, NonFiniteError
        If samples have another number of joints or are not finite.

    """
    changed = _drives(model) if refit_drives else ()
    with_it = LoadedModel(model, frame, changed=changed)
    without = replace(with_it, is_loaded=False)
    rows: list[RegressionRows] = []
    for motions, columns in ((unloaded, without), (loaded, with_it)):
        for samples in motions:
            rows += regression_rows(columns, samples, cutoff)
    return _fitted_payload(with_it, rows, prior, weight)


def payload_of_known_arm(
    model: IdentificationModel,
    arm: Vector,
    loaded: Sequence[JointSamples],
    frame: str,
    cutoff: float | None,
    *,
    refit_drives: bool = True,
    prior: Payload | None = None,
    weight: float = 1.0,
) -> PayloadFit:
    """
    Identify a payload from motions with it and the parameters of the arm.

    Parameters
    ----------
    model : IdentificationModel
        The arm without it, and the terms of its drives.
    arm : ndarray, shape (p,)
        All of its parameters, as ``model.prior`` or an earlier identification has them; their
        errors are part of the uncertainty only as far as the efforts show them.
    loaded : sequence of JointSamples
        The motions.
    frame : str
        Link or joint frame that holds the payload, in which it is expressed.
    cutoff : float or None
        Of the filter of regressor and efforts [Hz].
    refit_drives : bool
        Whether friction and offsets are fitted again, as changes of the given ones; rotors stay.
    prior, weight
        As for `payload_from_two_motions`.

    Raises
    ------
    UnknownFrameError, ConfigurationError, DimensionError, NonFiniteError
        As `payload_from_two_motions`; DimensionError also if there are not `p` parameters.

    """
    drives = _drives(model) if refit_drives else ()
    columns = LoadedModel(model, frame, chosen=drives)
    rows: list[RegressionRows] = []
    for samples in loaded:
        known = model.efforts(arm, samples.q, samples.v, samples.a)
        rows += regression_rows(columns, replace(samples, tau=samples.tau - known), cutoff)
    return _fitted_payload(columns, rows, prior, weight)


def payload_quantities(parameters: Vector) -> Vector:
    """Return `QUANTITIES` of ten parameters about the origin of the frame."""
    mass = float(parameters[0])
    com = parameters[1:4] / mass
    central = rotational_of(parameters) + mass * skew(com) @ skew(com)
    xx, xy, yy, xz, yz, zz = six_of(central)
    return np.array([mass, *com, xx, xy, xz, yy, yz, zz])


def _drives(model: IdentificationModel) -> tuple[int, ...]:
    """Return the base parameters that drift: friction and offsets."""
    return tuple(
        k
        for k, column in enumerate(model.base.independent)
        if column >= model.n_inertial
        and model.terms[column - model.n_inertial].kind != 'rotor_inertia'
    )


def _fitted_payload(
    columns: LoadedModel,
    rows: Sequence[RegressionRows],
    prior: Payload | None,
    weight: float,
) -> PayloadFit:
    check_prior_weight(weight)
    frame = columns.frame
    moving_frame(columns.arm.robot, frame)
    if not any(block.use.any() for block in rows):
        raise ConfigurationError('no samples of a motion with the payload can be used')
    if prior is not None and (prior.frame != frame or prior.mass <= 0.0):
        raise ConfigurationError(
            f"prior of the payload: {prior.mass:g} kg at '{prior.frame}', expected a mass at "
            f"'{frame}'"
        )
    fit = weighted_least_squares(accumulated(rows, columns.columns_of_joint, columns.count))
    found = base_covariance(rows, fit)
    linear = fit.base[-SIZE:]
    start = _prior_parameters(linear, found.deviation[-SIZE:], prior)
    root = _information_root(fit, found.matrix, start)
    problem = ConsistentProblem(
        root, root @ linear, start, np.zeros(0), np.zeros(0), n_inertial=SIZE
    )
    parameters = frozen(solved(problem, weight).parameters)
    information = root.T @ root + 0.5 * weight * divergence_hessian(parameters)
    covariance: Matrix = np.asarray(np.linalg.inv(information), dtype=np.float64)
    alone = np.linalg.inv(0.5 * weight * divergence_hessian(start))
    deviation = _deviation(parameters, covariance)
    share = deviation / _deviation(start, np.asarray(alone))
    if prior is None and share[0] > DETERMINED:
        raise ConfigurationError(
            'the motion does not show the mass of the payload; move joints that lift it'
        )
    inertial = inertial_of_parameters(parameters)
    efforts = np.maximum(fit.factors.effort_norms(), 1e-300)
    best = np.append(fit.base[:-SIZE], parameters)
    return PayloadFit(
        payload=Payload(inertial.mass, frame, inertial.com, inertial.inertia),
        parameters=parameters,
        covariance=frozen(covariance),
        linear=frozen(linear),
        deviation=frozen(found.deviation[-SIZE:]),
        condition=fit.condition,
        spread=fit.spread,
        value_deviation=frozen(deviation),
        share=frozen(share),
        correlation_time=found.correlation_time,
        errors=frozen(fit.factors.residual_norms(best) / efforts),
        errors_without=frozen(_residuals_without(fit, columns.count - SIZE) / efforts),
    )


def divergence_hessian(parameters: Vector) -> Matrix:
    """Return the Hessian of the log-det divergence in ten parameters at a possible body."""
    inverse = np.linalg.inv(body_pseudo_inertia(parameters))
    turned = inverse @ UNIT_BODIES
    hessian: Matrix = turned.reshape(SIZE, -1) @ turned.transpose(0, 2, 1).reshape(SIZE, -1).T
    return hessian


def _residuals_without(fit: LinearFit, count: int) -> Vector:
    """Return the norms of the errors of the best fit without the payload, shape (nv,)."""
    if not count:
        return fit.factors.effort_norms()
    without = fit.factors.restricted(np.arange(count, dtype=np.intp))
    return without.residual_norms(weighted_least_squares(without).base)


def _prior_parameters(linear: Vector, deviation: Vector, prior: Payload | None) -> Vector:
    if prior is not None:
        inertia = prior.spatial_inertia()
        stated = [inertia.mass, *inertia.first_moment, *six_of(inertia.rotational)]
        return possible_prior(np.array(stated))
    mass = float(linear[0])
    if not mass > 3.0 * float(deviation[0]) > 0.0:
        mass = PRIOR_MASS
    moment = 2.0 * mass * REACH**2
    return np.array([mass, 0.0, 0.0, 0.0, moment, 0.0, moment, 0.0, 0.0, moment])


def _information_root(fit: LinearFit, covariance: Matrix, start: Vector) -> Matrix:
    """
    Return `A` with ``A.T @ A`` the information on the payload, shape (r, 10).

    In directions that the rows do not show it is zero, where the covariance says nothing.

    """
    triangle, _ = fit.factors.stacked(1.0 / fit.spread)
    count = triangle.shape[1] - SIZE
    # What is left of the payload's columns outside of the span of the others.
    scale = np.sqrt(np.diag(np.linalg.inv(divergence_hessian(start))))
    columns = np.asarray(triangle[:, count:] * scale)
    _, sizes, axes = np.linalg.svd(columns[count:])
    seen = axes[: len(sizes)][sizes > VISIBLE * float(np.linalg.norm(columns))]
    spread = seen / scale @ covariance[count:, count:] @ (seen / scale).T
    inverse = np.linalg.inv(0.5 * (spread + spread.T)) if len(seen) else np.zeros((0, 0))
    root: Matrix = np.linalg.cholesky(inverse).T @ (seen / scale)
    return root


def _deviation(parameters: Vector, covariance: Matrix) -> Vector:
    """Return the standard deviations of `QUANTITIES`, to first order."""
    steps = 1e-6 * np.sqrt(np.diag(covariance))
    slopes = [
        (payload_quantities(parameters + step) - payload_quantities(parameters - step))
        for step in np.diag(steps)
    ]
    jacobian = np.array(slopes).T / (2.0 * steps)
    deviation: Vector = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))
    return deviation

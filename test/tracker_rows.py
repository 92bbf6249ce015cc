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

"""Rows for trackers, made from the equations of a model instead of filtered joint states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.online.causal_motion import CausalState
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    start_of_description,
)
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]

STEP = 0.025
NOISE = np.array([0.3, 0.3, 0.3, 0.1, 0.1, 0.1])


def es5_model(form: str = 'coulomb') -> IdentificationModel:
    """Return the model of the ES5 with one form of friction."""
    structure = ModelStructure(form, offset=form != 'two_sided')
    return identification_model(load_urdf(urdf_path('es5.urdf.xacro')), structure, 6 * (0.02,))


def drives(model: IdentificationModel, coulomb: float = 3.0) -> Array:
    """Return all parameters of the described arm with plain values for the terms of drives."""
    values = {'viscous': 4.0, 'coulomb': coulomb, 'stribeck': 0.5, 'offset': 0.2}
    values['rotor_inertia'] = 0.4
    parameters = np.array(model.prior)
    parameters[model.n_inertial :] = [values[term.kind] for term in model.terms]
    return parameters


def start_at(model: IdentificationModel, parameters: Array, share: float = 0.002) -> OnlineStart:
    """Return a start at parameters that are known up to a part of what would leave all open."""
    open_start = start_of_description(model, NOISE, 1.0)
    covariance = share**2 * open_start.covariance
    base = model.base.to_base(parameters)
    return OnlineStart(model, base, covariance, open_start.open_deviations, NOISE)


def motion(count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations of a sum of sines at the rate of rows."""
    rng = np.random.default_rng(seed)
    t = STEP * np.arange(count)[:, None]
    q, v, a = np.zeros((3, count, 6))
    for w in 2.0 * np.pi * np.array([0.13, 0.31, 0.57]):
        size, phase = rng.uniform(0.2, 0.5, 6), rng.uniform(0.0, 6.0, 6)
        q += size * np.sin(w * t + phase)
        v += w * size * np.cos(w * t + phase)
        a -= w * w * size * np.sin(w * t + phase)
    return q, v, a


def rows_of(
    model: IdentificationModel,
    q: Array,
    v: Array,
    a: Array,
    parameters: Array,
    *,
    seed: int = 1,
    noise: float = 1.0,
    start: float = 0.0,
    static: float = 0.0,
    stribeck: float = 0.05,
    velocities: Array | None = None,
) -> list[OnlineRow]:
    """
    Return rows of a motion under parameters, shape (p,) or (count, p), with noise.

    Friction rises by `static` at rest, over the velocity `stribeck`; rows have the columns of
    `velocities`.

    """
    rng = np.random.default_rng(seed)
    regressor = model.regressor(q, v, a)
    base = np.array([model.base.to_base(each) for each in np.atleast_2d(parameters)])
    tau = np.einsum('tjk,tk->tj', regressor, np.broadcast_to(base, (len(q), base.shape[1])))
    tau = tau + static * np.sign(v) * np.exp(-((v / stribeck) ** 2))
    tried = np.empty(0) if velocities is None else velocities
    columns = np.sign(v)[..., None] * np.exp(-((v[..., None] / tried) ** 2))
    tau = tau + noise * NOISE * rng.normal(size=tau.shape)
    made = []
    for k in range(len(q)):
        stamp = start + STEP * k
        state = CausalState(stamp, 1e-3, q[k], v[k], a[k], tau[k], True)
        made.append(
            OnlineRow(stamp, STEP, regressor[k], np.zeros((6, 10)), tau[k], state, columns[k])
        )
    return made

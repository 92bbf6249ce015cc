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
Speed of the core against Pinocchio's Python calls, side by side in one run.

Three tables: one call with the model bound and the result written into a given array, the checked
public functions, and many samples at once on one core against a loop over Pinocchio's calls; then
the time of a sample against the number of links.

"""

from __future__ import annotations

from functools import partial
import os

os.environ.setdefault('OMP_NUM_THREADS', '1')

import numpy as np
import pinocchio

from robot_dynamics_ros.core import dynamics
from robot_dynamics_ros.core.dynamics.regressor import regressor_block_kernel
from robot_dynamics_ros.core.dynamics.rnea import rnea_block_kernel
from robot_dynamics_ros.core.model import load_urdf, RobotModel
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import (
    Inertial,
    Joint,
    JointType,
    Link,
    RobotDescription,
)
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.resources import urdf_path
from side_by_side import Pair, time_pair

SAMPLES = 4096


def main() -> None:
    """Print the tables."""
    path = urdf_path('es5.urdf.xacro')
    model = load_urdf(path)
    rng = np.random.default_rng(0)
    # The same tree for Pinocchio; ours reads xacro by itself.
    robot = pinocchio.buildModelFromXML(expand_xacro(read_source(path)))
    data = robot.createData()
    q, v, a = rng.normal(size=(3, model.nv))
    tau = dynamics.rnea(model, q, v, a)
    assert np.allclose(tau, pinocchio.rnea(robot, data, q, v, a), rtol=1e-10)
    theirs = {
        'rnea': partial(pinocchio.rnea, robot, data, q, v, a),
        'generalized_gravity': partial(pinocchio.computeGeneralizedGravity, robot, data, q),
        'crba': partial(pinocchio.crba, robot, data, q),
        'aba': partial(pinocchio.aba, robot, data, q, v, tau),
        'joint_torque_regressor': partial(
            pinocchio.computeJointTorqueRegressor, robot, data, q, v, a
        ),
    }
    print('one call, model bound, into a given array [us]')
    bound = dynamics.BoundDynamics(model)
    out = np.empty(model.nv)
    _report(
        {
            'rnea': partial(bound.rnea, q, v, a, out),
            'generalized_gravity': partial(bound.generalized_gravity, q, out),
            'crba': partial(bound.crba, q, np.empty((model.nv, model.nv))),
            'aba': partial(bound.aba, q, v, tau, out),
            'joint_torque_regressor': partial(
                bound.joint_torque_regressor, q, v, a, np.empty((model.nv, 10 * model.nbodies))
            ),
        },
        theirs,
        {'rnea': 0.8},
        1.0,
    )
    print('\nchecked public function, new array [us]')
    _report(
        {
            'rnea': partial(dynamics.rnea, model, q, v, a),
            'generalized_gravity': partial(dynamics.generalized_gravity, model, q),
            'crba': partial(dynamics.crba, model, q),
            'aba': partial(dynamics.aba, model, q, v, tau),
            'joint_torque_regressor': partial(dynamics.joint_torque_regressor, model, q, v, a),
        },
        theirs,
        {},
        2.0,
    )
    _batches(model, robot, data, rng)
    _links(rng)


def _report(
    ours: dict[str, partial[object]],
    theirs: dict[str, partial[object]],
    goals: dict[str, float],
    goal: float,
) -> None:
    print(f'{"":24s}{"ours":>9s}{"Pinocchio":>11s}{"ratio":>8s}{"wanted":>10s}')
    for name, call in ours.items():
        pair = time_pair(call, theirs[name])
        limit = goals.get(name, goal)
        print(
            f'{name:24s}{1e6 * pair.ours:9.2f}{1e6 * pair.theirs:11.2f}{pair.ratio:8.2f}'
            f'{"<= " + format(limit, ".1f"):>10s}'
        )


def _batches(model: RobotModel, robot: object, data: object, rng: np.random.Generator) -> None:
    print(f'\n{SAMPLES} samples on one core [us a sample]')
    print(f'{"":24s}{"ours":>9s}{"Pinocchio":>11s}{"times":>8s}{"wanted":>10s}')
    q, v, a = rng.normal(size=(3, SAMPLES, model.nv))
    tau = np.empty((SAMPLES, model.nv))
    wide = np.empty((SAMPLES, model.nv, 10 * model.nbodies))
    rows = list(zip(q, v, a))

    def loop(call: object) -> None:
        for q_row, v_row, a_row in rows:
            call(robot, data, q_row, v_row, a_row)

    for name, ours, theirs in (
        ('rnea', partial(rnea_block_kernel, model.kernel, q, v, a, tau), pinocchio.rnea),
        (
            'joint_torque_regressor',
            partial(regressor_block_kernel, model.kernel, q, v, a, wide),
            pinocchio.computeJointTorqueRegressor,
        ),
    ):
        pair: Pair = time_pair(ours, partial(loop, theirs), calls=1, rounds=25)
        scale = 1e6 / SAMPLES
        print(
            f'{name:24s}{scale * pair.ours:9.3f}{scale * pair.theirs:11.3f}'
            f'{1.0 / pair.ratio:8.2f}{">= 5.0":>10s}'
        )


def _links(rng: np.random.Generator) -> None:
    print('\nrnea, time of a sample by number of links [us], and for each link')
    for count in (6, 12, 25, 50, 100):
        model = _chain(count)
        q, v, a = rng.normal(size=(3, SAMPLES, count))
        tau = np.empty_like(q)
        bound = dynamics.BoundDynamics(model)
        single = time_pair(
            partial(bound.rnea, q[0], v[0], a[0], tau[0]),
            partial(rnea_block_kernel, model.kernel, q[:256], v[:256], a[:256], tau[:256]),
            calls=50,
            rounds=15,
        )
        ours, batch = 1e6 * single.ours, 1e6 * single.theirs / 256
        print(
            f'{count:6d} links: single {ours:8.2f} ({ours / count:.3f})'
            f'   in a batch {batch:8.3f} ({batch / count:.4f})'
        )


def _chain(count: int) -> RobotModel:
    inertial = Inertial(1.0, np.array([0.05, 0.0, 0.0]), 0.01 * np.eye(3))
    links = [Link('base'), *(Link(f'link_{i}', inertial) for i in range(count))]
    joints = [
        Joint(
            f'joint_{i}',
            JointType.REVOLUTE,
            links[i].name,
            links[i + 1].name,
            translation=np.array([0.1, 0.0, 0.0]),
            axis=np.eye(3)[1 + i % 2],
        )
        for i in range(count)
    ]
    return build_model(RobotDescription('chain', tuple(links), tuple(joints)))


if __name__ == '__main__':
    main()

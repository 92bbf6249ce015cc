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
What makes every kernel compile: each is called once, with a small arm.

numba compiles for the types of the arguments, which the calls of the package itself know best.

"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

FRAME = 'link_2'
"""Link of the small arm at which something touches it."""


def compile_step(name: str) -> str:
    """Compile the kernels of one of the `STEPS`, or load them, and return its name."""
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    STEPS[name](model, np.zeros(model.nv))
    return name


def _simulation(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
    from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
    from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
    from robot_dynamics_ros.core.simulation.plant import Plant
    from robot_dynamics_ros.core.simulation.world import World

    Plant(model).step(zero, 1e-3)
    Plant(
        model,
        world=World.with_floor(-5.0),
        collisions=[CollisionShape(FRAME, 'sphere', 0.05)],
        joint_limits=True,
    ).step(zero, 1e-3)
    springs = ElasticJoints.from_model(model.with_armature([0.1, 0.1]), [1e3, 1e3])
    ElasticPlant(model, springs).step(zero, 1e-3)


def _free_motion(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core.simulation.integrators import simulate_motion

    for tau in (zero, lambda t, q, v: zero):
        simulate_motion(model, zero, zero, tau, dt=1e-3, steps=2)


def _dynamics(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core import dynamics

    dynamics.rnea(model, zero, zero, zero, f_ext=np.zeros((model.nbodies, 6)))
    dynamics.aba(model, zero, zero, zero)
    dynamics.crba(model, zero)
    dynamics.mass_matrix_inverse(model, zero)
    dynamics.coriolis_matrix(model, zero, zero)
    dynamics.frame_jacobian(model, zero, FRAME)
    dynamics.centroidal_map(model, zero)
    dynamics.frame_placement(model, zero, FRAME)
    dynamics.mechanical_energy(model, zero, zero)
    dynamics.generalized_gravity(model, zero)
    dynamics.joint_torque_regressor(model, zero, zero, zero)


def _batches(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core import dynamics

    rows = np.zeros((2, model.nv))
    dynamics.rnea_batch(model, rows, rows, rows)
    dynamics.generalized_gravity_batch(model, rows)
    dynamics.aba_batch(model, rows, rows, rows)
    dynamics.crba_batch(model, rows)
    dynamics.joint_torque_regressor_batch(model, rows, rows, rows)


def _control(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw

    for mode in ('pd_feedforward', 'computed_torque', 'pd_gravity'):
        law = InverseDynamicsLaw(model, mode, gravity_compensated_by_hardware=False)
        law.terms(zero, zero, (zero, zero, zero))


def _external_torque(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
    from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
    from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
    from robot_dynamics_ros.core.external_torque.momentum_kalman import MomentumKalmanFilter
    from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver

    bandwidth = 30.0
    MomentumKalmanFilter(model.nv, bandwidth)
    observer = MomentumObserver(MomentumBalance(model, None), np.full(model.nv, bandwidth))
    watch = ContactMonitor(observer, MeasuredEffort('torque', model.nv), frame=FRAME)
    for k in range(20):
        watch.step(1e-2 * k, zero, zero, zero)


def _identification(model: RobotModel, zero: Vector) -> None:
    from robot_dynamics_ros.core.identification.identification_model import identification_model
    from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
    from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
    from robot_dynamics_ros.core.identification.online.online_start import start_of_description
    from robot_dynamics_ros.core.identification.online.running_model import RunningModel
    from robot_dynamics_ros.core.identification.online.square_root_rls import SquareRootRls

    squares = SquareRootRls(zero, np.eye(model.nv), np.ones(model.nv), everywhere=True)
    squares.images(np.eye(model.nv))
    described = identification_model(model, ModelStructure(), model.nv * (0.05,))
    running = RunningModel(start_of_description(described), OnlineSettings(track_stribeck=True))
    for t in np.arange(0.0, 20.0, 0.01):  # friction is judged in motion only
        angle = np.array([1.0, 2.0]) * t
        running.step(float(t), np.sin(angle), 10.0 * np.cos(angle))


STEPS: dict[str, Callable[[RobotModel, Vector], None]] = {
    'simulation': _simulation,
    'dynamics': _dynamics,
    'batches': _batches,
    'identification': _identification,
    'external torque': _external_torque,
    'free motion': _free_motion,
    'control': _control,
}
"""The longest first: each may go on beside the others."""

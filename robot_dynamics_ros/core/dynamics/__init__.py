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
Rigid-body dynamics of a `RobotModel`.

``M(q) a + C(q, v) v + g(q) + tau_friction(v) = tau + J(q)^T f_ext``. 6-vectors have their linear
part first. Functions check their arguments and return new arrays; `BoundDynamics` does neither,
for control loops.

"""

from robot_dynamics_ros.core.dynamics.aba import aba, aba_batch
from robot_dynamics_ros.core.dynamics.bound import BoundDynamics
from robot_dynamics_ros.core.dynamics.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_map,
    centroidal_momentum,
)
from robot_dynamics_ros.core.dynamics.coriolis import coriolis_matrix
from robot_dynamics_ros.core.dynamics.crba import crba, crba_batch
from robot_dynamics_ros.core.dynamics.energy import (
    kinetic_energy,
    kinetic_energy_batch,
    mechanical_energy,
    potential_energy,
    potential_energy_batch,
)
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts
from robot_dynamics_ros.core.dynamics.gravity import (
    generalized_gravity,
    generalized_gravity_batch,
)
from robot_dynamics_ros.core.dynamics.integrate import (
    difference,
    integrate,
    random_configuration,
    shortest_turn,
)
from robot_dynamics_ros.core.dynamics.jacobian import (
    frame_jacobian,
    frame_jacobian_time_variation,
)
from robot_dynamics_ros.core.dynamics.joint_reaction import joint_reaction_wrenches
from robot_dynamics_ros.core.dynamics.kinematics import (
    forward_kinematics,
    frame_acceleration,
    frame_classical_acceleration,
    frame_placement,
    frame_velocity,
    Placement,
    ReferenceFrame,
)
from robot_dynamics_ros.core.dynamics.mass_matrix_inverse import (
    mass_matrix_inverse,
    singular_joint,
)
from robot_dynamics_ros.core.dynamics.nonlinear_effects import (
    nonlinear_effects,
    nonlinear_effects_batch,
)
from robot_dynamics_ros.core.dynamics.regressor import (
    body_regressor,
    dynamic_parameters,
    joint_torque_regressor,
    joint_torque_regressor_batch,
)
from robot_dynamics_ros.core.dynamics.rnea import rnea, rnea_batch
from robot_dynamics_ros.core.model.robot_model import neutral

__all__ = [
    'BoundDynamics',
    'Placement',
    'ReferenceFrame',
    'aba',
    'aba_batch',
    'body_regressor',
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_map',
    'centroidal_momentum',
    'coriolis_matrix',
    'crba',
    'crba_batch',
    'difference',
    'dynamic_parameters',
    'external_efforts',
    'forward_kinematics',
    'frame_acceleration',
    'frame_classical_acceleration',
    'frame_jacobian',
    'frame_jacobian_time_variation',
    'frame_placement',
    'frame_velocity',
    'generalized_gravity',
    'generalized_gravity_batch',
    'integrate',
    'joint_reaction_wrenches',
    'joint_torque_regressor',
    'joint_torque_regressor_batch',
    'kinetic_energy',
    'kinetic_energy_batch',
    'mass_matrix_inverse',
    'mechanical_energy',
    'neutral',
    'nonlinear_effects',
    'nonlinear_effects_batch',
    'potential_energy',
    'potential_energy_batch',
    'random_configuration',
    'rnea',
    'rnea_batch',
    'shortest_turn',
    'singular_joint',
]

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

"""The quantities at frames that both sides know, for one state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from robot_dynamics_ros.core import dynamics
from robot_dynamics_ros.core.dynamics import ReferenceFrame
from robot_dynamics_ros.crosscheck.quantities import Comparison
from robot_dynamics_ros.crosscheck.sample import Reference, size


def at_frames(reference: Reference, names: Iterable[str]) -> Iterator[Comparison]:
    """Compare placement, velocity, acceleration, Jacobian and its time variation of frames."""
    twin = reference.twin
    pin, model, data = twin.pin, twin.model, twin.data
    pin.computeJointJacobiansTimeVariation(model, data, reference.q, reference.v)
    pin.forwardKinematics(model, data, reference.q, reference.v, reference.a)
    pin.updateFramePlacements(model, data)
    theirs = {
        ReferenceFrame.LOCAL: pin.ReferenceFrame.LOCAL,
        ReferenceFrame.WORLD: pin.ReferenceFrame.WORLD,
        ReferenceFrame.LOCAL_WORLD_ALIGNED: pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }
    for name in names:
        frame_id = twin.frame_ids[name]
        ours = dynamics.frame_placement(twin.robot, reference.state.q, name)
        placement = data.oMf[frame_id]
        where = f"frame '{name}'"
        yield Comparison('frame_rotation', ours.rotation, placement.rotation, 0.0, where)
        yield Comparison(
            'frame_translation', ours.translation, placement.translation, reference.reach, where
        )
        for seen_from, pin_frame in theirs.items():
            yield from _at_frame(reference, name, seen_from, pin_frame)


def _at_frame(
    reference: Reference, name: str, seen_from: ReferenceFrame, pin_frame: Any
) -> Iterator[Comparison]:
    twin, state = reference.twin, reference.state
    pin, model, data, robot = twin.pin, twin.model, twin.data, twin.robot
    frame_id = twin.frame_ids[name]
    q, v, a = state.q, state.v, state.a
    suffix = f' ({seen_from.name.lower()})'
    where = f"frame '{name}'"
    jacobian = pin.getFrameJacobian(model, data, frame_id, pin_frame)
    rate = pin.getFrameJacobianTimeVariation(model, data, frame_id, pin_frame)
    # Pinocchio gives a matrix with one column as a vector.
    rate, jacobian = rate.reshape(6, model.nv), jacobian.reshape(6, model.nv)
    rate = rate @ reference.T + jacobian @ reference.T_rate
    jacobian = jacobian @ reference.T
    ours = dynamics.frame_jacobian(robot, q, name, seen_from)
    yield Comparison('frame_jacobian' + suffix, ours, jacobian, 0.0, where)
    rate_size = size(jacobian) * reference.speed
    if seen_from.name in twin.right_jacobian_rates:
        ours = dynamics.frame_jacobian_time_variation(robot, q, v, name, seen_from)
        yield Comparison('frame_jacobian_time_variation' + suffix, ours, rate, rate_size, where)
    theirs = pin.getFrameVelocity(model, data, frame_id, pin_frame).vector
    ours = dynamics.frame_velocity(robot, q, v, name, seen_from)
    yield Comparison('frame_velocity' + suffix, ours, theirs, rate_size, where)
    theirs = pin.getFrameAcceleration(model, data, frame_id, pin_frame).vector
    ours = dynamics.frame_acceleration(robot, q, v, a, name, seen_from)
    natural_size = size(jacobian) * (size(a) + reference.speed**2)
    yield Comparison('frame_acceleration' + suffix, ours, theirs, natural_size, where)
    theirs = pin.getFrameClassicalAcceleration(model, data, frame_id, pin_frame).vector
    ours = dynamics.frame_classical_acceleration(robot, q, v, a, name, seen_from)
    yield Comparison('frame_classical_acceleration' + suffix, ours, theirs, natural_size, where)

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

"""Robots to test on: a handful of small ones by name, and random trees from a seeded generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import (
    Inertial,
    Joint,
    JointLimits,
    JointType,
    Link,
    Mimic,
    RobotDescription,
)
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel

Array = NDArray[np.float64]

X, Y, Z = np.eye(3)
LIMITS = JointLimits(-3.0, 3.0, 5.0, 50.0)


def joint(name: str, kind: str, parent: str, child: str, **fields: Any) -> Joint:
    """Return a joint with the limits that URDF asks for where it asks for them."""
    if kind in ('revolute', 'prismatic'):
        fields.setdefault('limits', LIMITS)
    return Joint(name, JointType(kind), parent, child, **fields)


def body(name: str, mass: float, com: Iterable[float], inertia: Iterable[float]) -> Link:
    """Return a link with a diagonal inertia about its centre of mass."""
    return Link(name, Inertial(mass, np.array(list(com)), np.diag(list(inertia))))


def rod(name: str, mass: float, length: float) -> Link:
    """Return a uniform thin rod along x, its frame at one end."""
    moment = mass * length**2 / 12.0
    return body(name, mass, (length / 2.0, 0.0, 0.0), (0.0, moment, moment))


HEAVY_BASE = body('base', 3.0, (0.02, 0.01, -0.05), (0.02, 0.03, 0.04))
"""A root that has inertia: without effect on a fixed base, needed on a floating one."""


def robot(
    name: str, links: Iterable[Link], joints: Iterable[Joint], base: Link | None = None
) -> RobotDescription:
    """Return a description whose root is the link ``base``, massless unless it is given."""
    return RobotDescription(name, (base or Link('base'), *links), tuple(joints))


# ------------------------------------------------------------------ small robots


def pendulum() -> RobotDescription:
    """Return a physical pendulum about a horizontal axis, with friction."""
    swing = joint('swing', 'continuous', 'base', 'bob', axis=Y, damping=0.3, friction=0.2)
    return robot('pendulum', [body('bob', 1.5, (0.1, 0.02, -0.6), (0.05, 0.06, 0.02))], [swing])


def two_link(
    masses: tuple[float, float] = (2.0, 1.0), lengths: tuple[float, float] = (0.5, 0.4)
) -> RobotDescription:
    """Return a planar 2R of uniform rods in the x-y plane; give it gravity along -y."""
    links = [rod('upper', masses[0], lengths[0]), rod('lower', masses[1], lengths[1]), Link('tip')]
    joints = [
        joint('shoulder', 'revolute', 'base', 'upper', axis=Z),
        joint('elbow', 'revolute', 'upper', 'lower', axis=Z, translation=lengths[0] * X),
        joint('end', 'fixed', 'lower', 'tip', translation=lengths[1] * X),
    ]
    return robot('two_link', links, joints)


def branched() -> RobotDescription:
    """Return a torso with two arms of different make and a massless link in one of them."""
    links = [
        body('torso', 8.0, (0.0, 0.01, 0.2), (0.3, 0.2, 0.1)),
        body('left_1', 1.0, (0.0, 0.2, 0.0), (0.02, 0.01, 0.02)),
        body('left_2', 0.7, (0.0, 0.15, 0.02), (0.01, 0.004, 0.01)),
        Link('right_1'),
        body('right_2', 1.2, (0.0, -0.2, 0.05), (0.03, 0.01, 0.03)),
    ]
    tilt = Rotation.from_euler('xyz', [0.3, -0.2, 0.5]).as_matrix()
    joints = [
        joint('waist', 'revolute', 'base', 'torso', axis=Z, translation=0.1 * Z),
        joint('l1', 'revolute', 'torso', 'left_1', axis=X, translation=[0, 0.2, 0.4]),
        joint('l2', 'revolute', 'left_1', 'left_2', axis=-Z, translation=[0, 0.4, 0]),
        joint('r1', 'continuous', 'torso', 'right_1', axis=Y, translation=[0, -0.2, 0.4]),
        joint('r2', 'revolute', 'right_1', 'right_2', axis=X, rotation=tilt),
    ]
    return robot('branched', links, joints, HEAVY_BASE)


def prismatic() -> RobotDescription:
    """Return a gantry: a vertical and an oblique slide with a wrist."""
    links = [
        body('lift', 3.0, (0.1, 0.0, 0.05), (0.02, 0.03, 0.04)),
        body('slide', 1.5, (0.0, 0.1, 0.0), (0.01, 0.02, 0.01)),
        body('wrist', 0.5, (0.05, 0.0, 0.02), (0.001, 0.002, 0.002)),
    ]
    joints = [
        joint('lift_joint', 'prismatic', 'base', 'lift', axis=Z, damping=2.0),
        joint('slide_joint', 'prismatic', 'lift', 'slide', axis=np.array([0.6, 0.8, 0.0])),
        joint('wrist_joint', 'revolute', 'slide', 'wrist', axis=Y, translation=[0.1, 0.2, 0.0]),
    ]
    return robot('prismatic', links, joints)


def six_axis() -> RobotDescription:
    """Return an arm in the manner of the usual six-axis robots, with a tool frame."""
    axes = (Z, Y, Y, Y, -Z, Y)
    steps = ([0, 0, 0.09], [0, 0.12, 0], [0.42, 0, 0.01], [0.39, 0, 0], [0, 0.1, 0], [0, 0, -0.09])
    masses = (3.9, 10.4, 2.8, 1.4, 1.3, 0.4)
    coms = (
        [0, -0.01, 0.05],
        [0.2, 0.1, 0],
        [0.2, 0.02, 0],
        [0, 0.05, 0],
        [0, 0, -0.04],
        [0.01, 0.03, 0],
    )
    links, joints, parent = [], [], 'base'
    for i, (axis, step, mass, com) in enumerate(zip(axes, steps, masses, coms), start=1):
        moments = mass * np.array([0.011, 0.012, 0.006])
        links.append(body(f'link_{i}', mass, com, moments))
        joints.append(
            joint(f'joint_{i}', 'revolute', parent, f'link_{i}', axis=axis, translation=step,
                  damping=0.5 * i, friction=0.1 * i)
        )  # fmt: skip
        parent = f'link_{i}'
    links.append(Link('tool'))
    turn = Rotation.from_euler('xyz', [np.pi / 2, 0, 0.1]).as_matrix()
    joints.append(
        joint('flange', 'fixed', parent, 'tool', rotation=turn, translation=[0, 0.05, 0.01])
    )
    return robot('six_axis', links, joints)


def gripper() -> RobotDescription:
    """Return a wrist with two fingers that mimic one motor, one of them at second hand."""
    links = [
        body('palm', 0.8, (0.0, 0.0, 0.05), (0.002, 0.002, 0.001)),
        body('left', 0.1, (0.0, 0.01, 0.03), (1e-4, 1e-4, 5e-5)),
        body('right', 0.1, (0.0, -0.01, 0.03), (1e-4, 1e-4, 5e-5)),
        body('thumb', 0.15, (0.02, 0.0, 0.03), (2e-4, 1e-4, 1e-4)),
    ]
    joints = [
        joint('wrist', 'revolute', 'base', 'palm', axis=Y),
        joint('left_finger', 'prismatic', 'palm', 'left', axis=Y, translation=0.1 * Z),
        joint('right_finger', 'prismatic', 'palm', 'right', axis=Y, translation=0.1 * Z,
              mimic=Mimic('left_finger', -1.0, 0.02)),
        joint('thumb_joint', 'continuous', 'palm', 'thumb', axis=X, translation=[0.03, 0, 0.08],
              mimic=Mimic('right_finger', 12.0, -0.3)),
    ]  # fmt: skip
    return robot('gripper', links, joints, HEAVY_BASE)


def mobile() -> RobotDescription:
    """Return a platform in an inclined plane with a short arm and a floating ball."""
    links = [
        body('platform', 12.0, (0.05, 0.0, 0.1), (0.4, 0.5, 0.6)),
        body('arm', 2.0, (0.2, 0.0, 0.03), (0.01, 0.04, 0.04)),
        body('ball', 0.5, (0.001, 0.002, 0.0), (2e-3, 2e-3, 2e-3)),
    ]
    normal = np.array([0.36, -0.48, 0.8])
    joints = [
        joint('plane', 'planar', 'base', 'platform', axis=normal, translation=[0.1, 0.2, 0.3]),
        joint('arm_joint', 'revolute', 'platform', 'arm', axis=Y, translation=[0.1, 0, 0.3]),
        joint('ball_joint', 'floating', 'platform', 'ball', translation=[-0.2, 0, 0.4]),
    ]
    return robot('mobile', links, joints)


# ------------------------------------------------------------------ random trees

LEADERS = ('revolute', 'continuous', 'prismatic')
EVERY_TYPE = ('revolute', 'continuous', 'prismatic', 'planar', 'floating', 'fixed')


def random_rotation(rng: np.random.Generator) -> Array:
    """Return a uniformly random rotation, shape (3, 3)."""
    return np.asarray(Rotation.from_quat(rng.normal(size=4)).as_matrix())


def random_axis(rng: np.random.Generator) -> Array:
    """Return a unit axis: along one of the six coordinate directions, or anywhere."""
    if rng.random() < 0.4:
        return np.asarray(rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)])
    axis = rng.normal(size=3)
    return np.asarray(axis / np.linalg.norm(axis))


def random_inertial(rng: np.random.Generator) -> Inertial:
    """Return a possible mass distribution: second moments about its centre are positive."""
    mass = float(rng.uniform(0.3, 4.0))
    axes = random_rotation(rng)
    second_moment = axes @ np.diag(mass * rng.uniform(0.02, 0.2, size=3) ** 2) @ axes.T
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    return Inertial(mass, rng.uniform(-0.2, 0.2, size=3), 0.5 * (inertia + inertia.T))


def random_tree(rng: np.random.Generator, extra: int = 4) -> RobotDescription:
    """
    Return a random tree that holds every joint type, a mimic joint and a mimic of that mimic.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of all choices.
    extra : int
        Joints beyond one of each kind.

    """
    kinds = [*EVERY_TYPE, 'mimic', 'mimic', *rng.choice(['revolute', 'prismatic'], size=2)]
    kinds += list(rng.choice([*EVERY_TYPE, 'mimic'], size=extra))
    order = list(rng.permutation(kinds))
    # The first joint is one that others can follow.
    order.insert(0, order.pop(next(i for i, kind in enumerate(order) if kind in LEADERS)))
    links = [Link('base', random_inertial(rng))]
    joints: list[Joint] = []
    leaders: list[str] = []
    followers: list[str] = []
    for i, kind in enumerate(order):
        # Names whose alphabetical order is not that of the tree, and links called like joints.
        name = f'{"zyxwv"[int(rng.integers(5))]}_{i}'
        mimic = None
        if kind == 'mimic':
            # The second one follows the first, so that every tree has a chain.
            leader = str(rng.choice(followers if len(followers) == 1 else leaders))
            mimic = Mimic(leader, float(rng.uniform(-2, 2)), float(rng.normal()))
            followers.append(name)
            kind = str(rng.choice(LEADERS))
        parent = links[-1] if rng.random() < 0.5 else links[int(rng.integers(len(links)))]
        massless = kind == 'fixed' and rng.random() < 0.5
        links.append(Link(name, None if massless else random_inertial(rng)))
        joints.append(
            joint(name, kind, parent.name, name, mimic=mimic, axis=random_axis(rng),
                  rotation=random_rotation(rng), translation=rng.uniform(-0.4, 0.4, size=3),
                  damping=float(rng.uniform(0, 2)), friction=float(rng.uniform(0, 1)))
        )  # fmt: skip
        if kind in LEADERS:
            leaders.append(name)
    shuffled = [joints[i] for i in rng.permutation(len(joints))]
    return RobotDescription('random', tuple(links), tuple(shuffled))


def random_model(seed: int) -> RobotModel:
    """
    Return a random tree with random options.

    Odd seeds float; every third has a payload and armatures, every fourth another gravity, every
    fifth locked joints.

    """
    rng = np.random.default_rng([seed, 314159])
    description = random_tree(rng)
    options: dict[str, Any] = {'floating_base': seed % 2 == 1}
    if seed % 4 == 0:
        options['gravity'] = rng.normal(scale=6.0, size=3)
    if seed % 5 == 0:
        options['locked'] = _random_locks(rng, description)
    if seed % 3 == 0:
        bare = build_model(description, **options)
        single = [j.name for j in bare.joints if j.type.value in LEADERS]
        options['armature'] = {name: float(rng.uniform(0.0, 0.5)) for name in single}
        carried = [name for name, frame in bare.frames.items() if frame.body >= 0]
        inertial = random_inertial(rng)
        options['payload'] = Payload(
            inertial.mass, str(rng.choice(carried)), inertial.com, inertial.inertia
        )
    return build_model(description, **options)


def _random_locks(rng: np.random.Generator, description: RobotDescription) -> dict[str, Any]:
    independent = [
        j for j in description.joints if j.mimic is None and j.type is not JointType.FIXED
    ]
    locks: dict[str, Any] = {}
    for i in rng.permutation(len(independent))[:3]:
        chosen = independent[i]
        size = {JointType.PLANAR: 3, JointType.FLOATING: 7}.get(chosen.type, 1)
        value = rng.normal(size=size)
        locks[chosen.name] = float(value[0]) if size == 1 else value
    return locks


# ------------------------------------------------------------------ models by name


@dataclass(frozen=True)
class State:
    """A configuration with velocity, acceleration, efforts, and one wrench on each body."""

    q: Array
    v: Array
    a: Array
    tau: Array
    f_ext: Array


def random_state(model: RobotModel, rng: np.random.Generator) -> State:
    """Return a random state: angles in +-pi, lengths in +-1 m, the rest standard normal."""
    q = rng.uniform(-1.0, 1.0, size=model.nq)
    for moving in model.joints:
        if moving.type in (JointType.REVOLUTE, JointType.CONTINUOUS) and moving.mimic is None:
            q[moving.q_index] *= np.pi
        elif moving.type is JointType.PLANAR:
            q[moving.q_index + 2] *= np.pi
        elif moving.type is JointType.FLOATING:
            quaternion = rng.normal(size=4)
            q[moving.q_index + 3 : moving.q_index + 7] = quaternion / np.linalg.norm(quaternion)
    v, a, tau = rng.normal(size=(3, model.nv))
    return State(q, v, a, tau, rng.normal(size=(model.nbodies, 6)))


def named_models() -> dict[str, RobotModel]:
    """Return small robots and random trees by name; each mass matrix is positive definite."""
    models = {
        'pendulum': build_model(pendulum()),
        'two_link': build_model(two_link(), gravity=(0.0, -9.81, 0.0)),
        'branched': build_model(branched()),
        'branched_floating': build_model(branched(), floating_base=True),
        'prismatic': build_model(prismatic()),
        'six_axis': build_model(six_axis()),
        'six_axis_armature': build_model(six_axis(), armature={'joint_2': 0.7, 'joint_6': 0.2}),
        'gripper': build_model(gripper()),
        'gripper_floating': build_model(gripper(), floating_base=True),
        'mobile': build_model(mobile()),
    }
    for seed in range(6):
        models[f'random_{seed}'] = random_model(seed)
    return models

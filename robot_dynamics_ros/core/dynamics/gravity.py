r"""
Gravity efforts: the recursive Newton-Euler algorithm at rest.

With no motion every body only feels the base's upward acceleration :math:`-g`, so that pass 1
turns that vector into each body's axes and pass 2 sums weights: :math:`f = m a`, :math:`n = h
\times a`. See `rnea` for the general case and symbols.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import (
    add_joint_effort,
    E,
    is_finite,
    local_pose,
    wrench_to_parent,
)
from robot_dynamics_ros.core.dynamics.rnea import rnea_batch
from robot_dynamics_ros.core.dynamics.samples import as_samples, refuse_non_finite
from robot_dynamics_ros.core.jit import kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    FIRST_MOMENT,
    GRAVITY,
    MASS,
    NBODIES,
    PARENT,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its local pose.
A = 12  # 3: acceleration
WRENCH = 15  # 6: force and moment


@kernel
def gravity_kernel(robot: Matrix, work: Matrix, q: Vector, g: Vector) -> bool:
    """Write the gravity efforts of one sample to `g`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    # Pass 1: base to tips
    for i in range(n):
        body = robot[1 + i]
        local_pose(robot, i, q, work)
        row = work[i]
        parent = int(body[PARENT])
        if parent < 0:
            ax = -robot[0, GRAVITY]
            ay = -robot[0, GRAVITY + 1]
            az = -robot[0, GRAVITY + 2]
        else:
            ax = work[parent, A]
            ay = work[parent, A + 1]
            az = work[parent, A + 2]
        a0 = row[E] * ax + row[E + 3] * ay + row[E + 6] * az
        a1 = row[E + 1] * ax + row[E + 4] * ay + row[E + 7] * az
        a2 = row[E + 2] * ax + row[E + 5] * ay + row[E + 8] * az
        row[A] = a0
        row[A + 1] = a1
        row[A + 2] = a2
        m = body[MASS]
        hx = body[FIRST_MOMENT]
        hy = body[FIRST_MOMENT + 1]
        hz = body[FIRST_MOMENT + 2]
        row[WRENCH] = m * a0
        row[WRENCH + 1] = m * a1
        row[WRENCH + 2] = m * a2
        row[WRENCH + 3] = hy * a2 - hz * a1
        row[WRENCH + 4] = hz * a0 - hx * a2
        row[WRENCH + 5] = hx * a1 - hy * a0
    # Pass 2: tips to base
    for j in range(g.size):
        g[j] = 0.0
    for i in range(n - 1, -1, -1):
        add_joint_effort(robot, i, WRENCH, work, g)
        wrench_to_parent(robot, i, WRENCH, work)
    return is_finite(q) and is_finite(g)


def generalized_gravity(model: RobotModel, q: Any) -> Vector:
    """
    Compute the efforts that hold the robot still against gravity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    g : ndarray, shape (nv,)
        ``g(q)``, the gradient of the potential energy [N m | N].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    g = np.empty(model.nv)
    if not gravity_kernel(model.kernel, np.empty(model.work_shape), q, g):
        refuse_non_finite('gravity efforts', q=q)
    return g


def generalized_gravity_batch(model: RobotModel, q: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute the gravity efforts of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    out : ndarray, shape (n_samples, nv), optional
        Where the result goes.

    Returns
    -------
    g : ndarray, shape (n_samples, nv)
        Gravity efforts [N m | N].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    rest = np.zeros((len(q), model.nv))
    return rnea_batch(model, q, rest, rest, out)

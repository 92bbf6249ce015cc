r"""
Regressors: inverse dynamics as a product with the inertial parameters.

Force and moment of one body are linear in mass :math:`m`, first moment :math:`h` and inertia :math:`I` about its origin,

.. math::

    f &= m a + (\dot\omega \times + \omega \times \omega \times) h \\
    n &= h \times a + I \dot\omega + \omega \times I \omega ,

with :math:`a` the acceleration of the body's origin against free fall. A joint :math:`j` on the way to the base, whose axis
is seen from the body as the velocity :math:`s` of the body's origin and the angular velocity :math:`z`, takes
:math:`s \cdot f + z \cdot n`, whose coefficients are

.. math::

    m: \; s \cdot a \qquad
    h: \; (s \times \omega) \times \omega + s \times \dot\omega + a \times z \qquad
    I: \; \mathrm{sym}(z, \dot\omega) + \mathrm{sym}(z \times \omega, \omega)

where sym collects the products that multiply Ixx, Ixy, Iyy, Ixz, Iyz, Izz.

The parameters of a body are ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` in its link frame, as in Pinocchio.

References
----------
.. [1] C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of Inertial Parameters of Manipulator Loads and Links",
   International Journal of Robotics Research 5(3), 1986.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector, as_vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.lanes import BLOCK
from robot_dynamics_ros.core.dynamics.rnea import SCRATCH, E, P, W, make_motion
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    FIRST_MOMENT,
    FREE,
    INERTIA,
    IV,
    KIND,
    LINK,
    MASS,
    MULTIPLIER,
    NBODIES,
    NPUBLIC,
    PARENT,
    PUBLIC,
    REVOLUTE,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Rows of a body's block of the work array, after those of the motion; the wrench is not needed here.
R = 21  # 9: rotation in the world
O = 30  # 3: origin in the world  # noqa: E741
POSED = 33
# Rows of the scratch block. Pass 1 uses the rows before SCRATCH for the motion, R and O; pass 2 all of them.
JR = SCRATCH  # 12: R and O of the parent, or of the joint
S = 64  # 3: velocity of the link's origin by a joint, in link axes
Z = 67  # 3: angular velocity by a joint, in link axes
Y = 70  # 10: a block of the regressor
LR = 33  # 9: rotation of the link frame in the world
LO = 42  # 3: its origin
LW = 80  # 9: W, DW and A in link axes
ROWS = 89


@inner
def _pose_rows(t: Matrix, lanes: int) -> None:
    """Write `R` and `O` of a body; those of its parent lie in `JR`."""
    for r in range(3):
        for s in range(lanes):
            x = t[JR + 3 * r, s]
            y = t[JR + 3 * r + 1, s]
            z = t[JR + 3 * r + 2, s]
            t[R + 3 * r, s] = x * t[E, s] + y * t[E + 3, s] + z * t[E + 6, s]
            t[R + 3 * r + 1, s] = x * t[E + 1, s] + y * t[E + 4, s] + z * t[E + 7, s]
            t[R + 3 * r + 2, s] = x * t[E + 2, s] + y * t[E + 5, s] + z * t[E + 8, s]
            t[O + r, s] = t[JR + 9 + r, s] + x * t[P, s] + y * t[P + 1, s] + z * t[P + 2, s]


@inner
def _link_rows(body: Vector, t: Matrix, lanes: int) -> None:
    """Write pose and motion of a body's link frame; those of its kernel frame are known."""
    for r in range(3):
        for c in range(3):
            for s in range(lanes):
                t[LR + 3 * r + c, s] = (
                    t[R + 3 * r, s] * body[LINK + c]
                    + t[R + 3 * r + 1, s] * body[LINK + 3 + c]
                    + t[R + 3 * r + 2, s] * body[LINK + 6 + c]
                )
        for s in range(lanes):
            t[LO + r, s] = t[O + r, s]
    for quantity in range(3):
        for c in range(3):
            for s in range(lanes):
                t[LW + 3 * quantity + c, s] = (
                    t[W + 3 * quantity, s] * body[LINK + c]
                    + t[W + 3 * quantity + 1, s] * body[LINK + 3 + c]
                    + t[W + 3 * quantity + 2, s] * body[LINK + 6 + c]
                )


@inner
def _axis_rows(kind: float, column: int, t: Matrix, lanes: int) -> None:
    """Write `S` and `Z` of one axis of the joint whose pose lies in `JR`."""
    turning = kind == REVOLUTE or (kind == FREE and column >= 3)
    k = column % 3 if kind == FREE else 2
    for s in range(lanes):
        x = t[JR + k, s]
        y = t[JR + 3 + k, s]
        z = t[JR + 6 + k, s]
        if turning:
            dx = t[LO, s] - t[JR + 9, s]
            dy = t[LO + 1, s] - t[JR + 10, s]
            dz = t[LO + 2, s] - t[JR + 11, s]
            vx = y * dz - z * dy
            vy = z * dx - x * dz
            vz = x * dy - y * dx
        else:
            vx = x
            vy = y
            vz = z
            x = 0.0
            y = 0.0
            z = 0.0
        t[S, s] = t[LR, s] * vx + t[LR + 3, s] * vy + t[LR + 6, s] * vz
        t[S + 1, s] = t[LR + 1, s] * vx + t[LR + 4, s] * vy + t[LR + 7, s] * vz
        t[S + 2, s] = t[LR + 2, s] * vx + t[LR + 5, s] * vy + t[LR + 8, s] * vz
        t[Z, s] = t[LR, s] * x + t[LR + 3, s] * y + t[LR + 6, s] * z
        t[Z + 1, s] = t[LR + 1, s] * x + t[LR + 4, s] * y + t[LR + 7, s] * z
        t[Z + 2, s] = t[LR + 2, s] * x + t[LR + 5, s] * y + t[LR + 8, s] * z


@inner
def _coefficient_rows(t: Matrix, scale: float, lanes: int) -> None:
    """Write the ten coefficients of the axis in `S` and `Z`, times `scale`, to `Y`."""
    for s in range(lanes):
        sx = scale * t[S, s]
        sy = scale * t[S + 1, s]
        sz = scale * t[S + 2, s]
        zx = scale * t[Z, s]
        zy = scale * t[Z + 1, s]
        zz = scale * t[Z + 2, s]
        wx = t[LW, s]
        wy = t[LW + 1, s]
        wz = t[LW + 2, s]
        dx = t[LW + 3, s]
        dy = t[LW + 4, s]
        dz = t[LW + 5, s]
        ax = t[LW + 6, s]
        ay = t[LW + 7, s]
        az = t[LW + 8, s]
        # s x w and z x w
        cx = sy * wz - sz * wy
        cy = sz * wx - sx * wz
        cz = sx * wy - sy * wx
        ux = zy * wz - zz * wy
        uy = zz * wx - zx * wz
        uz = zx * wy - zy * wx
        t[Y, s] = sx * ax + sy * ay + sz * az
        t[Y + 1, s] = cy * wz - cz * wy + sy * dz - sz * dy + ay * zz - az * zy
        t[Y + 2, s] = cz * wx - cx * wz + sz * dx - sx * dz + az * zx - ax * zz
        t[Y + 3, s] = cx * wy - cy * wx + sx * dy - sy * dx + ax * zy - ay * zx
        t[Y + 4, s] = zx * dx + ux * wx
        t[Y + 5, s] = zx * dy + zy * dx + ux * wy + uy * wx
        t[Y + 6, s] = zy * dy + uy * wy
        t[Y + 7, s] = zx * dz + zz * dx + ux * wz + uz * wx
        t[Y + 8, s] = zy * dz + zz * dy + uy * wz + uz * wy
        t[Y + 9, s] = zz * dz + uz * wz


def _make_passes(lanes: int) -> Callable[..., None]:
    """Return the regressor for a fixed number of samples; `out` has one matrix for each of the first `count`."""
    motion = make_motion(lanes)

    @inner
    def passes(
        robot: Matrix,
        work: Matrix,
        t: Matrix,
        q: Matrix,
        v: Matrix,
        a: Matrix,
        out: Matrix,
        count: int,
    ) -> None:
        n = int(robot[0, NBODIES])
        for s in range(count):
            for r in range(out.shape[1]):
                for c in range(out.shape[2]):
                    out[s, r, c] = 0.0
        for i in range(n):
            body = robot[1 + i]
            parent = int(body[PARENT])
            motion(robot, i, work, t, q, v, a)
            for r in range(12):
                for s in range(lanes):
                    if parent >= 0:
                        t[JR + r, s] = work[parent, R + r, s]
                    else:
                        t[JR + r, s] = 1.0 if r == 0 or r == 4 or r == 8 else 0.0
            _pose_rows(t, lanes)
            for r in range(POSED):
                for s in range(lanes):
                    work[i, r, s] = t[r, s]
        for i in range(n):
            body = robot[1 + i]
            first = 10 * int(body[PUBLIC])
            if first < 0:
                continue
            for r in range(POSED):
                for s in range(lanes):
                    t[r, s] = work[i, r, s]
            _link_rows(body, t, lanes)
            j = i
            while j >= 0:
                joint = robot[1 + j]
                for r in range(12):
                    for s in range(lanes):
                        t[JR + r, s] = work[j, R + r, s]
                for column in range(6 if joint[KIND] == FREE else 1):
                    _axis_rows(joint[KIND], column, t, lanes)
                    _coefficient_rows(t, joint[MULTIPLIER], lanes)
                    row = int(joint[IV]) + column
                    for s in range(count):
                        for k in range(10):
                            out[s, row, first + k] += t[Y + k, s]
                j = int(joint[PARENT])

    return passes


_passes_one = _make_passes(1)
_passes_block = _make_passes(BLOCK)


@kernel
def regressor_kernel(
    robot: Matrix, work: Matrix, q: Vector, v: Vector, a: Vector, regressor: Matrix
) -> bool:
    """Write the regressor of one sample; return whether all numbers are finite."""
    rows = work.reshape((work.shape[0], work.shape[1], 1))
    _passes_one(
        robot,
        rows,
        rows[work.shape[0] - 1],
        q.reshape((q.size, 1)),
        v.reshape((v.size, 1)),
        a.reshape((a.size, 1)),
        regressor.reshape((1, regressor.shape[0], regressor.shape[1])),
        1,
    )
    return is_finite(q) and is_finite(v) and is_finite(a)


@kernel
def regressor_block_kernel(robot: Matrix, q: Matrix, v: Matrix, a: Matrix, out: Matrix) -> int:
    """Write the regressors of many samples; return the first sample that is not finite, or -1."""
    n = int(robot[0, NBODIES])
    work = np.empty((n, POSED, BLOCK))
    t = np.empty((ROWS, BLOCK))
    rows_q = np.empty((q.shape[1], BLOCK))
    rows_v = np.empty((v.shape[1], BLOCK))
    rows_a = np.empty((v.shape[1], BLOCK))
    bad = -1
    for start in range(0, q.shape[0], BLOCK):
        count = min(BLOCK, q.shape[0] - start)
        for s in range(BLOCK):
            sample = start + min(s, count - 1)
            total = 0.0
            for j in range(q.shape[1]):
                rows_q[j, s] = q[sample, j]
                total += 0.0 * q[sample, j]
            for j in range(v.shape[1]):
                rows_v[j, s] = v[sample, j]
                rows_a[j, s] = a[sample, j]
                total += 0.0 * (v[sample, j] + a[sample, j])
            if total != 0.0 and bad < 0:
                bad = sample
        _passes_block(
            robot, work, t, rows_q, rows_v, rows_a, out[start : start + count], count
        )
    return bad


def joint_torque_regressor(model: RobotModel, q: Any, v: Any, a: Any) -> Matrix:
    """
    Compute the matrix that maps the inertial parameters to the joint efforts.

    Parameters
    ----------
    model : RobotModel
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v, a : array_like, shape (nv,)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].

    Returns
    -------
    Y : ndarray, shape (nv, 10 * nbodies)
        ``Y @ dynamic_parameters(model)`` are the efforts of `rnea` without armature [N m | N].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    a = as_vector('a', a, model.nv)
    regressor = np.empty((model.nv, 10 * model.nbodies))
    if not regressor_kernel(model.kernel, np.empty(model.work_shape), q, v, a, regressor):
        refuse_non_finite('regressor', q=q, v=v, a=a)
    return regressor


def joint_torque_regressor_batch(
    model: RobotModel, q: Any, v: Any, a: Any, out: Matrix | None = None
) -> Matrix:
    """
    Compute the regressors of many samples.

    Parameters
    ----------
    model : RobotModel
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v, a : array_like, shape (n_samples, nv)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    out : ndarray, shape (n_samples, nv, 10 * nbodies), optional
        Where the result goes.

    Returns
    -------
    Y : ndarray, shape (n_samples, nv, 10 * nbodies)
        One regressor for each sample; ``Y.reshape(-1, 10 * nbodies)`` stacks them.

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    v = as_samples('v', v, model.nv, len(q))
    a = as_samples('a', a, model.nv, len(q))
    if out is None:
        out = np.empty((len(q), model.nv, 10 * model.nbodies))
    in_parallel(regressor_block_kernel, model.kernel, (q, v, a), out)
    return out


def body_regressor(v_body: Any, a_body: Any) -> Matrix:
    """
    Compute the matrix that maps one body's inertial parameters to the wrench on it.

    Parameters
    ----------
    v_body : array_like, shape (6,)
        Spatial velocity ``[v; w]`` of the body, expressed in its own frame [m/s, rad/s].
    a_body : array_like, shape (6,)
        Spatial acceleration ``[a; dw]``, gravity subtracted by the caller, expressed in its own frame.

    Returns
    -------
    Y : ndarray, shape (6, 10)
        ``Y @ [m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` is the wrench ``[f; n]`` [N, N m].

    Raises
    ------
    DimensionError
        If a vector has another shape.

    """
    v_body = as_vector('v_body', v_body, 6)
    a_body = as_vector('a_body', a_body, 6)
    w, dw = v_body[3:], a_body[3:]
    acceleration = a_body[:3] + np.cross(w, v_body[:3])
    regressor = np.zeros((6, 10))
    regressor[:3, 0] = acceleration
    eye = np.eye(3)
    for k in range(3):
        regressor[:3, 1 + k] = np.cross(dw, eye[k]) + np.cross(w, np.cross(w, eye[k]))
        regressor[3:, 1 + k] = np.cross(eye[k], acceleration)
    regressor[3:, 4:] = _inertia_columns(dw)
    regressor[3:, 4:] += np.cross(w, _inertia_columns(w), axis=0)
    return regressor


def _inertia_columns(w: Vector) -> Matrix:
    """Return the matrix that maps ``[Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` to ``I w``, shape (3, 6)."""
    x, y, z = w
    return np.array(
        [
            [x, y, 0.0, z, 0.0, 0.0],
            [0.0, x, y, 0.0, z, 0.0],
            [0.0, 0.0, 0.0, x, y, z],
        ]
    )


def dynamic_parameters(model: RobotModel) -> Vector:
    """
    Return the inertial parameters of all bodies.

    Parameters
    ----------
    model : RobotModel

    Returns
    -------
    parameters : ndarray, shape (10 * nbodies,)
        For each body ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` in its link frame, inertia about its origin
        [kg, kg m, kg m^2]; lumped links and the payload included.

    """
    parameters = np.empty((int(model.kernel[0, NPUBLIC]), 10))
    for body in model.kernel[1:]:
        if body[PUBLIC] < 0:
            continue
        turn = body[LINK : LINK + 9].reshape(3, 3).T
        xx, xy, yy, xz, yz, zz = body[INERTIA : INERTIA + 6]
        inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        row = parameters[int(body[PUBLIC])]
        row[0] = body[MASS]
        row[1:4] = turn @ body[FIRST_MOMENT : FIRST_MOMENT + 3]
        row[4:] = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return parameters.ravel()


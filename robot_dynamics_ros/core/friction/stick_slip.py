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
Velocity of joints with dry friction at the end of a time step.

A step of length `dt` under all other torques would bring the joints to the velocity `v_free`. With
friction the velocity at its end is the one that solves

.. math:: M\,(v^+ - v_\mathrm{free})
          + \Delta t\,\bigl(B\,(\theta\,v^+ + (1 - \theta)\,v) + \lambda\bigr) = 0, \qquad
          \lambda_i \in F_i\,\mathrm{Sgn}(v^+_i),

where Sgn(0) is the whole interval [-1, 1]. With ``K = M + dt theta B`` and ``r = M v_free - dt (1
- theta) B v`` this is the condition for the minimum of ``v' K v / 2 - r' v + dt sum F_i |v_i|``.
That function is strictly convex, so there is exactly one solution. A joint that sticks has a
velocity of exactly zero, and dry friction never pushes along ``v+``.

The solver starts from a guess of which joints move and which way. It solves the linear system of
the moving joints and goes there; a joint that stops on the way sticks from then on, and a joint
that sticks with more than `F_i` is let go, one at a time (an active-set method, [2]). From one
step to the next the guess is nearly always right, and one linear system is all.

References
----------
.. [1] J. J. Moreau, *Unilateral contact and dry friction in finite freedom dynamics*, 1988 (time
       stepping).
.. [2] J. Nocedal and S. Wright, *Numerical Optimization*, 2006, section 16.5.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.jit import allocating_kernel, inner, kernel

_ROUNDS_PER_JOINT = 20
_TOLERANCE = 1e-12


@inner
def _solve_moving(
    k: Matrix, r: Vector, moving: NDArray[np.bool_], factor: Matrix, x: Vector
) -> None:
    """Solve ``K x = r`` among the moving joints by Cholesky's method; the others stay at zero."""
    n = len(r)
    for i in range(n):
        x[i] = 0.0
        if not moving[i]:
            continue
        rest, pivot = r[i], k[i, i]
        for j in range(i):
            if moving[j]:
                entry = k[i, j]
                for m in range(j):
                    if moving[m]:
                        entry -= factor[i, m] * factor[j, m]
                entry /= factor[j, j]
                factor[i, j] = entry
                pivot -= entry * entry
                rest -= entry * x[j]
        factor[i, i] = np.sqrt(pivot)
        x[i] = rest / factor[i, i]
    for i in range(n - 1, -1, -1):
        if moving[i]:
            rest = x[i]
            for j in range(i + 1, n):
                if moving[j]:
                    rest -= factor[j, i] * x[j]
            x[i] = rest / factor[i, i]


@allocating_kernel
def _minimise(k: Matrix, r: Vector, positive: Vector, negative: Vector, v: Vector) -> None:
    """Replace the guess `v` by the minimiser, changing the state of one joint at a time."""
    n = len(r)
    sign, load, goal, factor = np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))
    free, moving = np.empty(n, np.bool_), np.empty(n, np.bool_)
    for i in range(n):
        sign[i] = np.sign(v[i])
        free[i] = positive[i] == 0.0 and negative[i] == 0.0
        moving[i] = free[i] or sign[i] != 0.0
    for _ in range(_ROUNDS_PER_JOINT * n):
        for i in range(n):
            load[i] = r[i]
            if sign[i] > 0.0:
                load[i] -= positive[i]
            elif sign[i] < 0.0:
                load[i] += negative[i]
        _solve_moving(k, load, moving, factor, goal)

        # Go towards the goal until the first joint stops, if one does.
        way, changed = 2.0, -1
        for i in range(n):
            if not free[i] and goal[i] * sign[i] < 0.0 and v[i] / (v[i] - goal[i]) < way:
                way, changed = v[i] / (v[i] - goal[i]), i
        if changed >= 0:
            for i in range(n):
                v[i] += way * (goal[i] - v[i])
            v[changed] = sign[changed] = 0.0
            moving[changed] = False
            continue
        for i in range(n):
            v[i] = goal[i]

        # Let go of the sticking joint whose friction is exceeded most, if one is.
        largest, direction = 0.0, 0.0
        for i in range(n):
            if not moving[i]:
                needed = r[i]
                for j in range(n):
                    needed -= k[i, j] * v[j]
                excess = max(needed - positive[i], -negative[i] - needed)
                if excess > largest and excess > _TOLERANCE * (1.0 + abs(needed)):
                    largest, changed, direction = excess, i, np.sign(needed)
        if changed < 0:
            return
        sign[changed] = direction
        moving[changed] = True


@allocating_kernel
def stick_slip_kernel(k: Matrix, r: Vector, positive: Vector, negative: Vector, v: Vector) -> None:
    """Replace the guess `v` by the solution; see `stick_slip_velocity`."""
    _minimise(k, r, positive, negative, v)


@allocating_kernel
def friction_step_kernel(
    law: Matrix,
    mass: Matrix,
    v: Vector,
    v_free: Vector,
    dt: float,
    friction: Vector,
    v_new: Vector,
) -> None:
    """
    Make the velocity at the end of a step fulfil the friction law.

    Parameters
    ----------
    law : ndarray, shape (6, n)
        See `DryFriction.packed`; with load-dependent levels the result of `loaded_law_kernel`.
    mass : ndarray, shape (n, n)
        Mass matrix [kg m^2 | kg].
    v, v_free : ndarray, shape (n,)
        Velocity before the step, and at its end with `friction` held [rad/s | m/s].
    dt : float
        Length of the step [s].
    friction : ndarray, shape (n,)
        In: friction torque that was held; out: that of the step [N m | N].
    v_new : ndarray, shape (n,)
        Out: velocity at the end [rad/s | m/s].

    """
    n = len(v)
    k, r, positive, negative = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        side = v[i] if v[i] != 0.0 else v_free[i]
        damping = dt * (law[0, i] if side >= 0.0 else law[5, i])
        theta = 1.0 if damping > mass[i, i] else 0.5
        momentum = dt * friction[i] - (1.0 - theta) * damping * v[i]
        for j in range(n):
            k[i, j] = mass[i, j]
            momentum += mass[i, j] * v_free[j]
        k[i, i] += theta * damping
        r[i] = momentum
        speed = v[i] / law[4, i]
        rise = dt * (1.0 + (law[3, i] - 1.0) * np.exp(-speed * speed))
        positive[i] = law[1, i] * rise
        negative[i] = law[2, i] * rise
        v_new[i] = v[i]
    _minimise(k, r, positive, negative, v_new)
    for i in range(n):
        for j in range(n):
            friction[i] -= mass[i, j] * (v_new[j] - v_free[j]) / dt


@kernel
def loaded_law_kernel(law: Matrix, coefficient: Vector, load: Vector, loaded: Matrix) -> None:
    """
    Write the packed friction law of joints under load, for the step that follows.

    Parameters
    ----------
    law : ndarray, shape (n_rows, n)
        Packed law of the joints without load, of any model of this folder.
    coefficient, load : ndarray, shape (n,)
        `DryFriction.load_coefficient` [1], and load of either sign [N m | N].
    loaded : ndarray, shape (n_rows, n)
        Out: the law, with its Coulomb levels raised by ``coefficient |load|``.

    """
    for i in range(law.shape[1]):
        for row in range(law.shape[0]):
            loaded[row, i] = law[row, i]
        rise = coefficient[i] * abs(load[i])
        loaded[1, i] += rise
        loaded[2, i] += rise


def stick_slip_velocity(
    k: Matrix, r: Vector, positive: Vector, negative: Vector, guess: Vector
) -> Vector:
    """
    Return the velocity at the end of a step with dry friction.

    Parameters
    ----------
    k : ndarray, shape (n, n)
        The matrix `K`, symmetric positive definite [kg m^2 | kg].
    r : ndarray, shape (n,)
        The right-hand side `r` [N m s | N s].
    positive, negative : ndarray, shape (n,)
        ``dt F_i`` against motion in the positive and the negative direction, >= 0 [N m s | N s].
    guess : ndarray, shape (n,)
        A velocity whose signs are probably right, such as the one before the step.

    Returns
    -------
    v : ndarray, shape (n,)
        Velocity, exactly zero where a joint sticks [rad/s | m/s].

    """
    v = np.array(guess, dtype=np.float64)
    stick_slip_kernel(k, r, positive, negative, v)
    return v

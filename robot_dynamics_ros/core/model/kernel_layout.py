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
The packed array in which the compiled kernels see a robot.

``kernel[0]`` is a header; ``kernel[1 + i]`` describes kernel body ``i``. Parents come before
children. Every kernel body hangs on its parent by one joint, whose axis is the z axis of the
*kernel frame*: revolute about z, prismatic along z, or free. The kernel frame differs from the
link frame of the URDF by a constant rotation. A planar joint is a chain of two prismatic joints
and a revolute one, with two bodies of no mass. A mimic joint shares the coordinate of the joint
that it follows: its position is ``MULTIPLIER * q[IQ] + OFFSET`` and its effort counts
``MULTIPLIER`` times at ``IV``.

One flat array keeps the call from Python short: each further argument would cost about 50 ns.

"""

from __future__ import annotations

# Header, row 0
NBODIES = 0
NQ = 1
NV = 2
NPUBLIC = 3
"""Number of bodies that have a name; the two massless bodies of a planar joint have none."""
GRAVITY = 4
"""First of three columns: gravity [m/s^2] in world coordinates."""
MIMIC = 7
"""1 if two kernel bodies share a degree of freedom, else 0."""
FREE_ROOT = 8
"""1 if kernel body 0 floats freely in the world: dynamics then cannot depend on where it is."""

# Body, rows 1 ...
PARENT = 0
"""Index of the parent's kernel body, or -1 for the world."""
KIND = 1
IQ = 2
IV = 3
MULTIPLIER = 4
OFFSET = 5
ARMATURE = 6
"""Inertia at the joint itself, such as a rotor's behind its gear [kg m^2 | kg]."""
TRANSLATION = 7
"""First of three columns: origin of the kernel frame in the parent's kernel frame [m]."""
ROTATION = 10
"""
First of nine columns, row by row.

Kernel frame at position zero in the parent's kernel frame.

"""
MASS = 19
FIRST_MOMENT = 20
INERTIA = 23
"""First of six columns: Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the kernel frame's origin [kg m^2]."""
LINK = 29
"""First of nine columns, row by row: link frame in the kernel frame."""
PUBLIC = 38
"""Index among the named bodies, or -1."""

WIDTH = 40

WORK_WIDTH = 96
"""Columns of the work array that the kernels share: one row a body and one of scratch."""

# Values of KIND
REVOLUTE = 0
PRISMATIC = 1
FREE = 2

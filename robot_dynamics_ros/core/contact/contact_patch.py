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
Where two convex polygons overlap, which may be segments or points.

A contact patch is what the fronts of two solids have in common, seen along the contact normal.

References
----------
.. [1] I. E. Sutherland, G. W. Hodgman, "Reentrant polygon clipping", Communications of the ACM
   17(1), 1974.

"""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]

_NEAR = 1e-6
"""Points that are nearer to each other are one, and so far outside is inside [m]."""


def convex_hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners counter-clockwise; two or one where they lie on a line or a point."""
    ordered: list[Point] = []
    for point in sorted(points):
        if not any(_is_near(point, other) for other in ordered):
            ordered.append(point)
    if len(ordered) < 3:
        return ordered
    chains = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for point in sequence:
            while len(chain) > 1 and _distance_left(chain[-2], chain[-1], point) <= _NEAR:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def overlap(a: Sequence[Point], b: Sequence[Point]) -> list[Point]:
    """Return the corners of what two convex polygons have in common; empty if there is nothing."""
    if len(a) < 3 <= len(b):
        a, b = b, a
    if len(a) >= 3:
        result = list(b)
        for k in range(len(a)):
            result = _clip(result, a[k], a[(k + 1) % len(a)])
    elif len(a) == 2 and len(b) == 2:
        result = _common_of_segments(a, b)
    else:
        (point,), other = (a, b) if len(a) == 1 else (b, a)
        result = [point] if _is_on(point, other) else []
    unique: list[Point] = []
    for point in result:
        if not any(_is_near(point, other) for other in unique):
            unique.append(point)
    return unique


def nearest(polygon: Sequence[Point], point: Point) -> Point:
    """Return the point of a convex polygon, counter-clockwise, that is nearest to a point."""
    if len(polygon) == 1:
        return polygon[0]
    edges = [(polygon[k - 1], polygon[k]) for k in range(len(polygon))]
    if len(polygon) > 2 and all(_distance_left(*edge, point) >= 0.0 for edge in edges):
        return point
    found = []
    for (ax, ay), (bx, by) in edges:
        dx, dy = bx - ax, by - ay
        t = ((point[0] - ax) * dx + (point[1] - ay) * dy) / (dx * dx + dy * dy)
        t = min(1.0, max(0.0, t))
        found.append((ax + t * dx, ay + t * dy))
    return min(found, key=lambda p: (p[0] - point[0]) ** 2 + (p[1] - point[1]) ** 2)


def _is_near(a: Point, b: Point) -> bool:
    return abs(a[0] - b[0]) <= _NEAR and abs(a[1] - b[1]) <= _NEAR


def _distance_left(start: Point, end: Point, point: Point) -> float:
    """Return how far a point is to the left of a directed line."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    across = dx * (point[1] - start[1]) - dy * (point[0] - start[0])
    return float(across / (dx * dx + dy * dy) ** 0.5)


def _clip(points: Sequence[Point], start: Point, end: Point) -> list[Point]:
    """Return the part of a polygon to the left of a line."""
    kept: list[Point] = []
    for k, point in enumerate(points):
        following = points[(k + 1) % len(points)]
        here, there = _distance_left(start, end, point), _distance_left(start, end, following)
        if here >= -_NEAR:
            kept.append(point)
        if len(points) > 1 and min(here, there) < -_NEAR and max(here, there) > _NEAR:
            t = here / (here - there)
            kept.append(
                (
                    point[0] + t * (following[0] - point[0]),
                    point[1] + t * (following[1] - point[1]),
                )
            )
    return kept


def _is_on(point: Point, other: Sequence[Point]) -> bool:
    """Whether a point lies on a point or segment."""
    if len(other) == 1:
        return _is_near(point, other[0])
    dx, dy = other[1][0] - other[0][0], other[1][1] - other[0][1]
    t = (point[0] - other[0][0]) * dx + (point[1] - other[0][1]) * dy
    on_line = abs(_distance_left(other[0], other[1], point)) <= _NEAR
    return on_line and -_NEAR <= t <= dx * dx + dy * dy + _NEAR


def _common_of_segments(a: Sequence[Point], b: Sequence[Point]) -> list[Point]:
    first = _distance_left(a[0], a[1], b[0])
    second = _distance_left(a[0], a[1], b[1])
    if abs(first) <= _NEAR and abs(second) <= _NEAR:
        ends = [point for point in b if _is_on(point, a)]
        return ends + [point for point in a if _is_on(point, b)]
    if first * second > 0.0 and min(abs(first), abs(second)) > _NEAR:
        return []
    t = first / (first - second)
    crossing = (b[0][0] + t * (b[1][0] - b[0][0]), b[0][1] + t * (b[1][1] - b[0][1]))
    return [crossing] if _is_on(crossing, a) else []

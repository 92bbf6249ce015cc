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

from __future__ import annotations

from pathlib import Path
import struct

import numpy as np
import pytest

from contact_scenes import free_body
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.contact_layout import POINT, RADIUS
from robot_dynamics_ros.core.contact.geometry import (
    hull_vertices,
    Material,
    Plane,
    plane_contacts,
    RIM_POINTS,
)
from robot_dynamics_ros.core.contact.mesh_file import read_mesh_vertices
from robot_dynamics_ros.core.exceptions import ConfigurationError, ModelError, UnknownFrameError
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.resources import urdf_path

FLOOR = Plane('floor', np.array([0.0, 0.0, 2.0]), np.zeros(3))
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)


def lowest(shape: CollisionShape, q: np.ndarray) -> float:
    """Return the gap that a plant finds."""
    model = free_body()
    plant = Plant(model, world=World((FLOOR,)), collisions=[shape], q=q)
    return float(plant._arrays.gap[: len(plant._set.rows)].min())


@pytest.mark.parametrize('seed', range(20))
def test_gap_is_that_of_a_densely_sampled_shape(seed: int) -> None:
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(seed)
    kind = ('sphere', 'box', 'cylinder', 'capsule')[seed % 4]
    size = {'sphere': [0.2], 'box': [0.3, 0.2, 0.5]}.get(kind, [0.1, 0.4])
    shape = CollisionShape(
        'base', kind, size, Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    )
    turn = Rotation.random(random_state=100 + seed)
    q = np.array([*rng.normal(size=2), 10.0, *turn.as_quat()])
    if kind == 'box':
        points = np.array(size) * (CORNERS - 0.5)
    else:
        directions = rng.normal(size=(200000, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        if kind == 'cylinder':
            angle = np.linspace(0, 2 * np.pi, 100001)
            rim = np.column_stack((0.1 * np.cos(angle), 0.1 * np.sin(angle), 0 * angle))
            points = np.vstack((rim + [0, 0, 0.2], rim - [0, 0, 0.2]))
        else:
            points = size[0] * directions
            if kind == 'capsule':
                points = np.vstack((points + [0, 0, 0.2], points - [0, 0, 0.2]))
    world = turn.apply(points @ shape.rotation.T + shape.translation) + q[:3]
    # The sampled sphere misses its lowest point by up to r / n.
    assert lowest(shape, q) == pytest.approx(world[:, 2].min(), abs=1e-4)


def test_points_of_each_shape_are_counted() -> None:
    model = free_body()
    counts = {'point': 1, 'sphere': 1, 'box': 8, 'capsule': 2, 'cylinder': 2 + 2 * RIM_POINTS}
    for kind, count in counts.items():
        size = {'point': [], 'sphere': [0.1], 'box': [1, 1, 1]}.get(kind, [0.1, 0.2])
        shape = CollisionShape('base', kind, size)
        assert len(plane_contacts(model, [shape], [FLOOR]).rows) == count
    mesh = CollisionShape('base', 'mesh', vertices=np.vstack((CORNERS, [[0.5, 0.5, 0.5]])))
    assert (
        len(plane_contacts(model, [mesh], [FLOOR]).rows) == 8
    )  # the inner one is not of the hull
    flat = CORNERS[CORNERS[:, 2] == 0.0]
    assert len(hull_vertices(np.vstack((flat, flat + [0, 0.1, 0])))) == 8


def test_collisions_of_a_urdf_are_read(tmp_path: Path) -> None:
    (tmp_path / 'cube.obj').write_text('\n'.join(f'v {x} {y} {z}' for x, y, z in CORNERS))
    path = tmp_path / 'robot.urdf'
    path.write_text("""<robot name="r"><link name="a">
      <collision><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>
        <geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>
      <collision><geometry><mesh filename="cube.obj" scale="2 2 2"/></geometry></collision>
      <collision><geometry><capsule radius="0.1" length="0.3"/></geometry></collision>
      <visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>""")
    cylinder, mesh, capsule = read_collisions(path)
    np.testing.assert_allclose(cylinder.rotation[:, 2], [1, 0, 0], atol=1e-15)
    assert cylinder.translation.tolist() == [0, 0, 1] and cylinder.size.tolist() == [0.1, 0.4]
    assert mesh.vertices.max() == 2.0 and capsule.kind == 'capsule'
    assert [s.link for s in read_collisions(urdf_path('five_link_biped_floating.urdf'))] == [
        'left_shank', 'right_shank'
    ]  # fmt: skip


def test_mesh_files_of_all_kinds_give_their_vertices(tmp_path: Path) -> None:
    triangles = CORNERS[[[0, 1, 2], [5, 6, 7], [3, 4, 0]]]
    binary = tmp_path / 'binary.stl'
    body = b''.join(struct.pack('<12fH', 0, 0, 0, *t.ravel(), 0) for t in triangles)
    binary.write_bytes(b'solid but binary'.ljust(80) + struct.pack('<I', 3) + body)
    text = tmp_path / 'text.stl'
    lines = [f'vertex {x} {y} {z}' for t in triangles for x, y, z in t]
    text.write_text('solid cube\n' + '\n'.join(lines) + '\nendsolid')
    for path in (binary, text):
        np.testing.assert_array_equal(read_mesh_vertices(path), CORNERS)
    with pytest.raises(ModelError, match='cannot be read'):
        read_mesh_vertices(tmp_path / 'none.stl')
    (tmp_path / 'mesh.dae').write_text('<x/>')
    with pytest.raises(ModelError, match="'.dae' is not read"):
        read_mesh_vertices(tmp_path / 'mesh.dae')
    (tmp_path / 'bad.stl').write_bytes(b'nothing')
    with pytest.raises(ModelError, match='no STL'):
        read_mesh_vertices(tmp_path / 'bad.stl')
    (tmp_path / 'bad.obj').write_text('v 1 2 x')
    with pytest.raises(ModelError, match='could not convert'):
        read_mesh_vertices(tmp_path / 'bad.obj')


def test_links_and_surfaces_share_their_materials() -> None:
    model = free_body()
    rubber = Material(friction=0.4, restitution=0.1, stiffness=1e5, dissipation=2.0)
    plane = Plane('p', np.array([0, 0, 1.0]), np.zeros(3), Material(0.9, 0.5, 1e5, 1.0))
    shape = CollisionShape('base', 'sphere', [0.1])
    row = plane_contacts(model, [shape], [plane], {'base': rubber}).rows[0]
    np.testing.assert_allclose(row[14:18], [0.4, 0.1, 5e4, 2.0], rtol=1e-12)
    assert row[RADIUS] == 0.1 and row[POINT] == 0.0


def test_wrong_shapes_and_surfaces_are_refused() -> None:
    with pytest.raises(ModelError, match="'cone' is not one of"):
        CollisionShape('base', 'cone')
    with pytest.raises(ModelError, match='size of the sphere'):
        CollisionShape('base', 'sphere', [-1.0])
    with pytest.raises(ConfigurationError, match="plane 'p'"):
        Plane('p', np.zeros(3), np.zeros(3))
    with pytest.raises(ConfigurationError, match='restitution of a material is 2'):
        Material(restitution=2.0)
    with pytest.raises(UnknownFrameError, match="'leg'"):
        plane_contacts(free_body(), [CollisionShape('leg', 'point')], [FLOOR])
    with pytest.raises(ModelError, match='cannot be found'):
        read_collisions("""<robot name="r"><link name="a"><collision><geometry>
          <mesh filename="package://p/x.stl"/></geometry></collision></link></robot>""")

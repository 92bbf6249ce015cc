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

import numpy as np
import pytest

from contact_scenes import at_height, box_body
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World

TEXT = """
materials:
  rubber: {friction: 0.9, restitution: 0.2, stiffness: 2.0e+5, dissipation: 0.5}
planes:
  floor: {material: rubber}
  wall: {normal: [-1, 0, 0], point: [2, 0, 0]}
boxes:
  table: {size: [1.0, 0.6, 0.4], position: [0.8, 0, 0.2], material: rubber}
spheres:
  ball: {radius: 0.1}
links:
  foot: rubber
"""


def test_file_gives_the_world(tmp_path: Path) -> None:
    path = tmp_path / 'world.yaml'
    path.write_text(TEXT)
    world = World.from_file(path)
    assert [plane.name for plane in world.planes] == ['floor', 'wall']
    assert world.planes[0].material.friction == 0.9 and world.planes[1].material.friction == 0.7
    np.testing.assert_array_equal(world.planes[1].normal, [-1.0, 0.0, 0.0])
    assert world.boxes[0].size.tolist() == [1.0, 0.6, 0.4] and world.spheres[0].radius == 0.1
    assert world.link_materials['foot'] is world.materials['rubber']


def test_file_names_pairs_that_pass_through_each_other(tmp_path: Path) -> None:
    path = tmp_path / 'world.yaml'
    path.write_text(TEXT + 'disabled_pairs: [[table, base]]')
    world = World.from_file(path)
    assert world.disabled_pairs == (('table', 'base'),)
    model, shapes = box_body()
    q = at_height(model, 0.45)
    q[0] = 0.8  # 5 cm inside the table
    assert Plant(model, world=world, collisions=shapes, q=q).state.contacts == ()


@pytest.mark.parametrize(
    ('text', 'match'),
    [
        ('plains: {}', "unknown key 'plains'; there are: planes"),
        ('planes: {floor: {hight: 1}}', "planes, 'floor': unknown key 'hight'"),
        ('planes: {floor: {material: ice}}', "material 'ice' is not defined; there are: none"),
        ('boxes: {b: {}}', "boxes, 'b': size is missing"),
        ('boxes: {b: {size: [1, 2, -3]}}', 'expected > 0'),
        ('spheres: {s: {radius: 0}}', "radius of sphere 's' is 0"),
        ('planes: {floor: {normal: [0, 0]}}', "normal of plane 'floor' has shape"),
        ('materials: {m: {friction: -1}}', 'friction of a material is -1'),
        ('materials: {m: {friction: x}}', "friction of a material is 'x'"),
        ('planes: [1]', 'planes is'),
        ('disabled_pairs: [[a]]', 'expected two different names'),
        ('[', 'cannot be read'),
    ],
)
def test_mistakes_are_named_in_one_line(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / 'world.yaml'
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=match) as caught:
        World.from_file(path)
    assert '\n' not in str(caught.value)

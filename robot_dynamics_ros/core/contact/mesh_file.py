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
Vertices of a mesh file: STL, binary or text, and Wavefront OBJ.

Only where the vertices are matters for contact with planes; faces are not looked at.

"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.exceptions import ModelError

_MAX_BYTES = 200_000_000
_STL_HEADER = 84
_STL_TRIANGLE = np.dtype([('normal', '<f4', 3), ('vertices', '<f4', (3, 3)), ('attribute', '<u2')])


def read_mesh_vertices(path: Path) -> Matrix:
    """
    Return the different vertices of a mesh file.

    Parameters
    ----------
    path : Path
        STL or OBJ file.

    Returns
    -------
    vertices : ndarray, shape (n, 3)
        In the units of the file.

    Raises
    ------
    ModelError
        If the file cannot be read, is of another kind, or holds no vertex; one line.

    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ModelError(f'mesh {path} is larger than {_MAX_BYTES} bytes')
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f'mesh {path} cannot be read: {error.strerror or error}') from error
    kind = path.suffix.lower()
    if kind == '.stl':
        vertices = _stl_vertices(data, path)
    elif kind == '.obj':
        vertices = _text_vertices(data, b'v', path)
    else:
        raise ModelError(
            f"mesh {path}: '{kind}' is not read for contact; give STL or OBJ, or a simple shape"
        )
    if not len(vertices) or not np.isfinite(vertices).all():
        raise ModelError(f'mesh {path} has no vertices, or one that is not finite')
    return np.unique(vertices, axis=0)


def _stl_vertices(data: bytes, path: Path) -> Matrix:
    if len(data) >= _STL_HEADER:
        count = int.from_bytes(data[80:84], 'little')
        if len(data) == _STL_HEADER + count * _STL_TRIANGLE.itemsize:
            triangles = np.frombuffer(data, _STL_TRIANGLE, count, _STL_HEADER)
            return triangles['vertices'].reshape(-1, 3).astype(np.float64)
    if not data.lstrip().startswith(b'solid'):
        raise ModelError(f'mesh {path} is no STL file, neither binary nor text')
    return _text_vertices(data, b'vertex', path)


def _text_vertices(data: bytes, keyword: bytes, path: Path) -> Matrix:
    rows = []
    for line in data.splitlines():
        words = line.split()
        if words[:1] == [keyword]:
            try:
                rows.append([float(word) for word in words[1:4]])
            except ValueError as error:
                raise ModelError(f'mesh {path}: {error}') from error
    if any(len(row) != 3 for row in rows):
        raise ModelError(f'mesh {path}: a vertex has not three coordinates')
    return np.array(rows, dtype=np.float64).reshape(-1, 3)

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

"""The check of arrays at the public door of core: what is not made of real numbers is refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.arrays import as_array, as_finite, as_matrix, as_vector, frozen
from robot_dynamics_ros.core.exceptions import (
    DimensionError,
    NotNumericError,
    RobotDynamicsError,
)

CHECKS: dict[str, Callable[[Any], Any]] = {
    'as_vector': lambda value: as_vector('q', value, 2),
    'as_array': lambda value: as_array('q', value, (2,)),
    'as_finite': lambda value: as_finite('q', value, (2,)),
    'as_matrix': lambda value: as_matrix('q', value, (-1,)),
    'frozen': lambda value: frozen(value, 'q'),
}
NOT_NUMBERS = {
    'text': 'abc',
    'text of digits': ['1.5', '2.5'],
    'bytes': [b'1', b'2'],
    'a number and text': [1.0, 'a'],
    'ragged': [[1.0], [2.0, 3.0]],
    'arrays of different lengths': [np.zeros(2), np.zeros(3)],
    'complex': [1.0, 2.0 + 1j],
    'complex without imaginary part': np.zeros(2, dtype=np.complex64),
    'complex among objects': np.array([1.0, 2j], dtype=object),
    'None': None,
    'None among numbers': [1.0, None],
    'mapping': {'joint_1': 1.0},
    'generator': (x for x in (1.0, 2.0)),
    'dates': np.zeros(2, dtype='datetime64[s]'),
    'beyond a float': [10**400, 1],
}
NUMBERS = {
    'integers': [1, 2],
    'of single precision': np.array([1, 2], dtype=np.float32),
    'of another byte order': np.array([1.0, 2.0], dtype='>f8'),
    'not contiguous': np.array([1.0, 0.0, 2.0])[::2],
    'fractions': [Fraction(1), Fraction(2)],
    'decimals and others': [Decimal('1'), np.float32(2)],
    'tuple': (1.0, np.int64(2)),
    'range': range(1, 3),
}


@pytest.mark.parametrize('check', CHECKS)
@pytest.mark.parametrize('kind', NOT_NUMBERS)
def test_what_is_not_real_numbers_is_refused_by_name(check: str, kind: str) -> None:
    with pytest.raises(NotNumericError, match='^q .*expected real numbers$') as caught:
        CHECKS[check](NOT_NUMBERS[kind])
    assert caught.value.name == 'q'
    # numpy's own class for it, so that who catches that still does.
    assert isinstance(caught.value, RobotDynamicsError) and isinstance(caught.value, ValueError)


def test_message_shows_what_came() -> None:
    with pytest.raises(NotNumericError, match="q holds 'abc', expected real numbers"):
        as_vector('q', 'abc', 3)
    with pytest.raises(NotNumericError, match='q has rows of different lengths'):
        as_matrix('q', [[1.0], [2.0, 3.0]], (-1, 2))


@pytest.mark.parametrize('check', CHECKS)
@pytest.mark.parametrize('kind', NUMBERS)
def test_all_kinds_of_real_numbers_become_float64(check: str, kind: str) -> None:
    array = CHECKS[check](NUMBERS[kind])
    assert array.dtype == np.float64 and array.dtype.isnative
    assert array.flags.c_contiguous
    assert array.flags.writeable == (check != 'frozen')
    np.testing.assert_array_equal(array, [1.0, 2.0])


def test_float64_array_is_passed_on_and_others_are_copied() -> None:
    given = np.array([1.0, 2.0])
    for check in ('as_vector', 'as_array', 'as_finite', 'as_matrix'):
        assert CHECKS[check](given) is given
        assert not np.shares_memory(CHECKS[check](memoryview(given)), given)
    assert not np.shares_memory(CHECKS['frozen'](given), given)


def test_free_extent_takes_any_length_but_not_another_number_of_axes() -> None:
    assert as_matrix('q', [[1, 2], [3, 4], [5, 6]], (-1, 2)).shape == (3, 2)
    for wrong in ([1, 2], 1.0, [[1, 2, 3]]):
        with pytest.raises(DimensionError, match='q has shape'):
            as_matrix('q', wrong, (-1, 2))

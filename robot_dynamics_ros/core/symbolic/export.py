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
Equations of motion as source code: Python, and C for controllers.

Every function computes its common subexpressions once. The code stands alone; it needs ``math`` or
``math.h`` and knows nothing of this package.

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import keyword
import re
from typing import Any

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.symbolic.chain import Formula, require_sympy
from robot_dynamics_ros.core.symbolic.lagrange import LagrangeDynamics


def python_source(dynamics: LagrangeDynamics) -> str:
    """
    Return a Python module with the equations of motion.

    Parameters
    ----------
    dynamics : LagrangeDynamics
        The formulas.

    Returns
    -------
    source : str
        Module with ``mass_matrix(q)``, ``coriolis_matrix(q, v)``, ``generalized_gravity(q)``,
        ``kinetic_energy(q, v)``, ``potential_energy(q)`` and ``inverse_dynamics(q, v, a)``, which
        take sequences of length nv and return floats and lists.

    """
    sympy = require_sympy()
    lines = [f'"""{_about(dynamics, chr(10))}"""', '', 'import math']
    for name, formula, needs_velocity in dynamics.quantities():
        arguments = 'q, v' if needs_velocity else 'q'
        lines += ['', '', f'def {name}({arguments}):']
        entries, assignments = _common(dynamics, formula)
        lines += [f'    {left} = {sympy.pycode(right)}' for left, right in assignments]
        texts = iter([sympy.pycode(entry) for entry in entries])
        lines.append(f'    return {_nested(formula, texts)}')
    lines += [
        '',
        '',
        'def inverse_dynamics(q, v, a):',
        '    M, C, g = mass_matrix(q), coriolis_matrix(q, v), generalized_gravity(q)',
        f'    joints = range({dynamics.nv})',
        '    return [',
        '        sum(M[i][j] * a[j] + C[i][j] * v[j] for j in joints) + g[i] for i in joints',
        '    ]',
    ]
    return '\n'.join(lines) + '\n'


def c_source(dynamics: LagrangeDynamics, prefix: str | None = None) -> str:
    """
    Return a C99 file with the equations of motion.

    Parameters
    ----------
    dynamics : LagrangeDynamics
        The formulas.
    prefix : str, optional
        Start of the names of the functions; made from the robot's name by default.

    Returns
    -------
    source : str
        File with ``P_mass_matrix(q, M)``, ``P_coriolis_matrix(q, v, C)``,
        ``P_generalized_gravity(q, g)``, ``P_kinetic_energy(q, v)``, ``P_potential_energy(q)`` and
        ``P_inverse_dynamics(q, v, a, tau)``; matrices row by row.

    Raises
    ------
    ConfigurationError
        If `prefix` is not an identifier.

    """
    if prefix is None:
        prefix = re.sub(r'\W', '_', dynamics.name, flags=re.ASCII)
        prefix = f'robot_{prefix}' if not prefix or prefix[0].isdigit() else prefix
    if not re.fullmatch(r'[A-Za-z_]\w*', prefix, flags=re.ASCII) or keyword.iskeyword(prefix):
        raise ConfigurationError(f"prefix '{prefix}', expected an identifier of C")
    n = dynamics.nv
    about = _about(dynamics, '\n * ').replace('*/', '* /')
    lines = [f'/* {about} */', '#include <math.h>']
    for name, formula, needs_velocity in dynamics.quantities():
        is_scalar = not isinstance(formula, list)
        arguments = [f'const double q[{n}]', *[f'const double v[{n}]'] * needs_velocity]
        entries, assignments = _common(dynamics, formula)
        if not is_scalar:
            arguments.append(f'double out[{len(entries)}]')
        kind = 'double' if is_scalar else 'void'
        lines += ['', f'{kind} {prefix}_{name}({", ".join(arguments)})', '{']
        lines += [f'    const double {left} = {_as_c(right)};' for left, right in assignments]
        if is_scalar:
            lines.append(f'    return {_as_c(entries[0])};')
        else:
            lines += [f'    out[{k}] = {_as_c(entry)};' for k, entry in enumerate(entries)]
        lines.append('}')
    vectors = ', '.join(f'const double {name}[{n}]' for name in 'qva')
    lines += [
        '',
        f'void {prefix}_inverse_dynamics({vectors}, double out[{n}])',
        '{',
        f'    double M[{n * n}], C[{n * n}];',
        f'    {prefix}_mass_matrix(q, M);',
        f'    {prefix}_coriolis_matrix(q, v, C);',
        f'    {prefix}_generalized_gravity(q, out);',
        f'    for (int i = 0; i < {n}; ++i)',
        f'        for (int j = 0; j < {n}; ++j)',
        f'            out[i] += M[{n} * i + j] * a[j] + C[{n} * i + j] * v[j];',
        '}',
    ]
    return '\n'.join(lines) + '\n'


def _about(dynamics: LagrangeDynamics, newline: str) -> str:
    name = re.sub(r'[^\w .,+-]', '_', dynamics.name)
    joints = ', '.join(re.sub(r'[^\w .,+/-]', '_', joint) for joint in dynamics.joint_names)
    lines = (
        f"Dynamics of '{name}': M(q) a + C(q, v) v + g(q) = tau, without friction.",
        f'q, v, a: {joints}.',
        'SI units; derived by the method of Lagrange.',
    )
    return newline.join(lines)


def _entries(formula: Any) -> list[Formula]:
    """Return the entries of a nested list, row by row."""
    if not isinstance(formula, list):
        return [formula]
    return [entry for part in formula for entry in _entries(part)]


def _nested(formula: Any, texts: Iterator[str]) -> str:
    if not isinstance(formula, list):
        return next(texts)
    return f'[{", ".join(_nested(part, texts) for part in formula)}]'


def _common(
    dynamics: LagrangeDynamics, formula: Any
) -> tuple[list[Formula], Sequence[tuple[Formula, Formula]]]:
    """Return the entries, and the subexpressions to be computed before, in terms of arrays."""
    sympy = require_sympy()
    arrays = {
        symbol: sympy.Symbol(f'{array}[{k}]')
        for array, symbols in (('q', dynamics.q), ('v', dynamics.v))
        for k, symbol in enumerate(symbols)
    }
    names = sympy.numbered_symbols('x')
    assignments, entries = sympy.cse(
        [entry.xreplace(arrays) for entry in _entries(formula)], symbols=names
    )
    # Some are left over when a product with zero falls away.
    used = set().union(*(entry.free_symbols for entry in entries))
    needed = []
    for left, right in reversed(assignments):
        if left in used:
            used |= right.free_symbols
            needed.append((left, right))
    return entries, needed[::-1]


def _as_c(formula: Formula) -> str:
    """Return an expression of C, with products instead of small powers."""
    square = [
        (lambda base, exponent: exponent == 2, lambda base, exponent: f'(({base})*({base}))'),
        (lambda base, exponent: True, 'pow'),
    ]
    return str(require_sympy().ccode(formula, user_functions={'Pow': square}))

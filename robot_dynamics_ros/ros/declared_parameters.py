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

"""Declare the parameters of a dataclass to a node, and read them back."""

from __future__ import annotations

from math import inf
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.ros.parameters import ParameterSpec, specs_of

_LARGEST = 1.797e308


def declare(node: Node, cls: type) -> None:
    """
    Declare the parameters of a dataclass to a node.

    Raises
    ------
    ConfigurationError
        If an override has another type or is out of range.

    """
    for spec in specs_of(cls).values():
        has_value = not (spec.is_required or (spec.is_array and not spec.default))
        value = list(spec.default) if has_value and spec.is_array else spec.default
        if not has_value:
            value = getattr(Parameter.Type, spec.type_name.upper().replace('[]', '_ARRAY'))
        try:
            node.declare_parameter(spec.name, value, _descriptor(spec))
        except ParameterException as error:
            given = node._parameter_overrides.get(spec.name)
            if given is not None:
                spec.checked(given.value)  # says it in one line
            raise ConfigurationError(f'parameter {spec.name}: {error}') from error


def _descriptor(spec: ParameterSpec) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=spec.description, read_only=spec.read_only)
    limits = []
    if spec.choices:
        limits.append(f'one of: {", ".join(spec.choices)}')
    if spec.size:
        limits.append(f'{spec.size} entries')
    if (spec.low, spec.high) != (-inf, inf):
        if spec.is_array:
            limits.append(f'each {spec.range_text()}')
        elif spec.kind is float:
            low, high = max(spec.low, -_LARGEST), min(spec.high, _LARGEST)
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        else:
            low, high = max(spec.low, -(2**62)), min(spec.high, 2**62)
            descriptor.integer_range = [
                IntegerRange(from_value=int(low), to_value=int(high), step=1)
            ]
    descriptor.additional_constraints = '; '.join(limits)
    return descriptor


def values_of(node: Node, cls: type) -> dict[str, Any]:
    """Return the present values of the declared parameters; None for those that are not set."""
    return {spec.name: node.get_parameter_or(spec.name).value for spec in specs_of(cls).values()}

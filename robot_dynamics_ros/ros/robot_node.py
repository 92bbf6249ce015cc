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

"""A managed node that works on a robot: it reads the description and checks the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from std_msgs.msg import String

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.jit import has_compiled_kernels
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.cdr import read_text
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.lifecycle import ManagedNode
from robot_dynamics_ros.ros.model_report import crosscheck_report, model_report
from robot_dynamics_ros.ros.qos import LATCHED
from robot_dynamics_ros.ros.robot_parameters import RobotParameters
from robot_dynamics_ros.ros.robot_source import load_robot, payload_of, payload_values

ParametersT = TypeVar('ParametersT', bound=RobotParameters)


class RobotNode(ManagedNode[ParametersT], Generic[ParametersT]):
    """
    A managed node with a robot model.

    Parameters
    ----------
    name : str
        Name of the node.
    parameters_class : type
        Dataclass of its parameters.
    **options
        Passed on to the node of rclpy, such as ``parameter_overrides`` and ``namespace``.

    Attributes
    ----------
    model : RobotModel
        The robot; there while configured.
    description : str
        The newest text of ``robot_description``.

    """

    model: RobotModel

    def __init__(self, name: str, parameters_class: type[ParametersT], **options: Any) -> None:
        super().__init__(name, parameters_class, **options)
        self.description = ''
        self._crosscheck = Report(Level.OK, 'not run')
        self.create_subscription(
            String, 'robot_description', self._on_description, LATCHED, raw=True
        )

    def prepare(self) -> None:
        """
        Load the robot and compare its model with Pinocchio.

        Raises
        ------
        ConfigurationError
            If there is no description, or the models differ.

        """
        parameters = self.parameters
        topic = self.waits_for_robot()
        if topic:
            raise ConfigurationError(
                f'nothing has come on {topic}, and robot_description_file is not set'
            )
        if not has_compiled_kernels():
            self.get_logger().info(
                'first start of this version on this machine: compiling, for a minute or two; '
                'robot_dynamics compile does it beforehand'
            )
        self.model = load_robot(parameters, self.description, floating_base=self.has_floating_base)
        self.diagnostics.hardware_id = self.model.name
        for finding in self.model.findings:
            if finding.severity == 'warning':
                self.get_logger().warning(f'{finding.subject}: {finding.message}')
        self._run_crosscheck()
        self.diagnostics.add('model', lambda: model_report(self.model))
        self.diagnostics.add('cross-check', lambda: self._crosscheck)

    @property
    def has_floating_base(self) -> bool:
        """Whether the root link of the robot floats in the world."""
        return False

    def waits_for_robot(self) -> str:
        """Return the topic from which a description has to come first, or an empty text."""
        if self.get_parameter('robot_description_file').value or self.description:
            return ''
        return str(self.resolve_topic_name('robot_description'))

    def waits_to_configure(self) -> str:
        """Return what configuration has to wait for, or an empty text."""
        return self.waits_for_robot()

    def prepare_change(self, parameters: ParametersT) -> Callable[[], None]:
        """Build what live changes ask for, or raise; what is returned puts it to use."""
        model = self.model_for(parameters)

        def commit() -> None:
            self.model = model

        return commit

    def model_for(self, parameters: ParametersT) -> RobotModel:
        """Return the model with the payload of changed parameters, or as it is."""
        if payload_values(parameters) == payload_values(self.parameters):
            return self.model
        return self.model.with_payload(payload_of(parameters))

    def _run_crosscheck(self) -> None:
        """
        Compare the model with Pinocchio.

        Raises
        ------
        ConfigurationError
            If they differ.

        """
        if not self.parameters.crosscheck:
            self._crosscheck = Report(Level.OK, 'switched off by parameter')
            return
        self._crosscheck = crosscheck_report(self.model, self.parameters.crosscheck_samples)
        if self._crosscheck.level is Level.ERROR:
            raise ConfigurationError(self._crosscheck.message)
        if self._crosscheck.level is Level.WARN:
            self.get_logger().warning(self._crosscheck.message)

    def _on_description(self, message: bytes) -> None:
        try:
            description = read_text(message)
        except ValueError:
            self.note_malformed()
            return
        is_used = self.is_configured and not self.parameters.robot_description_file
        if is_used and description != self.description:
            self.get_logger().warning(
                'another robot_description has come; it counts when the node is configured again'
            )
        self.description = description

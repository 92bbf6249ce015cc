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

"""What every node of the package does with its lifecycle, whatever it is for."""

from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.ros.node_parameters import TrajectoryAnnotatorParameters
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.running import run_node
from ros_graph import Graph, StateFeed, Statuses

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
NAMES = [f'joint_{i}' for i in range(1, 7)]
BASIC = {'robot_description_file': ES5, 'crosscheck': False}
QUICK = {
    **BASIC,
    'gravity_compensated_by_hardware': False,
    'stale_state_policy': 'ramp_down',
    'autostart': True,
    'ramp_up_time': 0.0,
    'effort_rate_limits': [1e6] * 6,
    'ramp_down_time': 0.2,
}


class Plain(RobotNode[TrajectoryAnnotatorParameters]):
    """A node that raises what it is told to."""

    def __init__(self, **options: Any) -> None:
        super().__init__('plain', TrajectoryAnnotatorParameters, **options)
        self.error: Exception | None = None

    def activate(self) -> None:
        if self.error is not None:
            raise self.error


def test_own_errors_are_one_line_and_others_come_with_traceback(
    graph: Graph, capfd: pytest.CaptureFixture[str]
) -> None:
    node = graph.add(Plain, **BASIC)
    assert node.trigger_configure() == SUCCESS
    node.error = ConfigurationError('it is\n   too late')
    assert node.trigger_activate() == FAILURE
    said = capfd.readouterr().err
    assert 'cannot activate: it is too late' in said
    assert 'Traceback' not in said
    node.error = ZeroDivisionError('by nothing')
    assert node.trigger_activate() == FAILURE
    said = capfd.readouterr().err
    assert 'Traceback' in said
    assert 'ZeroDivisionError: by nothing' in said
    assert not node.is_active
    node.error = None
    assert node.trigger_activate() == SUCCESS


def test_transitions_come_by_service(graph: Graph) -> None:
    node = graph.add(Plain, **BASIC)
    change = graph.probe.create_client(ChangeState, '/plain/change_state')
    get = graph.probe.create_client(GetState, '/plain/get_state')
    assert graph.spin_until(lambda: change.service_is_ready() and get.service_is_ready())
    for transition, state in (
        (Transition.TRANSITION_CONFIGURE, 'inactive'),
        (Transition.TRANSITION_ACTIVATE, 'active'),
        (Transition.TRANSITION_DEACTIVATE, 'inactive'),
        (Transition.TRANSITION_CLEANUP, 'unconfigured'),
    ):
        request = ChangeState.Request()
        request.transition.id = transition
        future = change.call_async(request)
        assert graph.spin_until(future.done)
        assert future.result().success
        answer = get.call_async(GetState.Request())
        assert graph.spin_until(answer.done)
        assert answer.result().current_state.label == state
    assert not node.is_configured


def test_configuring_again_reads_the_parameters_again(graph: Graph) -> None:
    node = graph.add(Plain, **BASIC)
    assert node.trigger_configure() == SUCCESS
    refused = node.set_parameters([Parameter('gravity', value=[0.0, 0.0, 9.81])])[0]
    assert 'is read when the node configures' in refused.reason
    assert node.trigger_cleanup() == SUCCESS
    assert node.set_parameters([Parameter('gravity', value=[0.0, 0.0, 9.81])])[0].successful
    assert node.trigger_configure() == SUCCESS
    np.testing.assert_array_equal(node.model.gravity, [0.0, 0.0, 9.81])


def test_unknown_parameters_are_named(graph: Graph, capfd: pytest.CaptureFixture[str]) -> None:
    graph.add(Plain, **BASIC, state_timout=0.2)
    assert "there is no parameter 'state_timout'" in capfd.readouterr().err


def test_model_and_crosscheck_stand_in_diagnostics(graph: Graph) -> None:
    pytest.importorskip('pinocchio')
    statuses = Statuses(graph)
    node = graph.add(Plain, **{**BASIC, 'crosscheck': True, 'crosscheck_samples': 1})
    assert node.trigger_configure() == SUCCESS
    assert graph.spin_until(lambda: 'passed' in statuses.message('cross-check'))
    assert statuses.message('model') == "'es5': 6 joints, 20.25 kg moving"
    assert statuses.values('model')['joints'] == ', '.join(NAMES)
    assert statuses.newest['model'].hardware_id == 'es5'
    assert statuses.message('lifecycle') == 'inactive'


def test_description_is_asked_for(graph: Graph, capfd: pytest.CaptureFixture[str]) -> None:
    node = graph.add(Plain, crosscheck=False)
    assert node.trigger_configure() == FAILURE
    assert 'nothing has come on /robot_description' in capfd.readouterr().err


class Breaking(GravityCompensationNode):
    """A node with a fault that shows after a while."""

    is_broken = False

    def wanted_torque(self) -> Vector:
        if self.is_broken:
            raise ZeroDivisionError('a fault of the program')
        return super().wanted_torque()


def test_fault_of_the_program_still_ramps_the_torque_down(
    graph: Graph, capfd: pytest.CaptureFixture[str]
) -> None:
    node = graph.add(Breaking, **QUICK)
    feed = StateFeed(graph, NAMES)
    commands = graph.collect(Float64MultiArray, 'effort_controller/commands')
    assert graph.spin_until(lambda: node.is_active and node.guard.state is GuardState.ACTIVE)
    assert graph.spin_until(lambda: len(commands) > 3)
    node.is_broken = True
    commands.clear()
    with pytest.raises(ZeroDivisionError):
        graph.spin_for(2.0)
    assert feed.is_on
    node.finish()  # what the main program does whatever happens
    graph.executor.remove_node(node)
    assert graph.spin_until(lambda: commands and not np.any(commands[-1].data))
    assert np.isfinite([command.data for command in commands]).all()
    assert node.guard.state in (GuardState.READY, GuardState.FAULT)


def test_run_node_returns_the_exit_code() -> None:
    class Refused(Plain):
        """A node whose file does not exist."""

        def __init__(self) -> None:
            super().__init__(
                parameter_overrides=[
                    Parameter('autostart', value=True),
                    Parameter('robot_description_file', value='/no/such/file.urdf'),
                ]
            )

    class Wrong(Plain):
        """A node with a parameter of the wrong type."""

        def __init__(self) -> None:
            super().__init__(parameter_overrides=[Parameter('base_roll', value=1)])

    assert run_node(Refused, []) == 1
    assert run_node(Wrong, []) == 1

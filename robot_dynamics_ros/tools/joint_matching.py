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
Match the joints of a log with those of a model: rename, and hold what the log does not have.

Nothing is guessed. A gripper whose fingers are in the URDF but not in the log must be held by the
user, since its position changes the torques of the arm; the refusal names the option to add.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
import math

from robot_dynamics_ros.bags.joint_map import resolve_joint_map, suggest_joint_map
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel


@dataclass(frozen=True)
class MatchedJoints:
    """
    A model that has exactly the joints that move in a log.

    Attributes
    ----------
    model : RobotModel
        With the held joints locked.
    joint_map : mapping of str to str
        Name in the model of each renamed joint of the log.
    locked : mapping of str to float
        Joints that are held, and where [rad | m].
    notes : tuple of str
        What a reader of results should know.

    """

    model: RobotModel
    joint_map: Mapping[str, str]
    locked: Mapping[str, float]
    notes: tuple[str, ...]


def match_joints(
    model: RobotModel,
    log_names: Sequence[str],
    map_rules: Sequence[str] = (),
    lock_rules: Sequence[str] = (),
) -> MatchedJoints:
    """
    Match the joints of a log with those of a model.

    Parameters
    ----------
    model : RobotModel
        With all of its joints.
    log_names : sequence of str
        Joints of the log.
    map_rules : sequence of str
        ``log_name:=model_name``, see `resolve_joint_map`.
    lock_rules : sequence of str
        ``joint:=position``; ``*`` in the name stands for any letters.

    Raises
    ------
    ConfigurationError
        If a rule is wrong, or a joint of the model is neither in the log nor held; both sets of
        names and the options that would help are in the message.
    ModelError
        If the model cannot be built with these joints held.

    """
    joint_map = resolve_joint_map(map_rules, log_names)
    renamed = [joint_map.get(name, name) for name in log_names]
    locked = _resolve_locks(lock_rules, model.joint_names)
    missing = [name for name in model.joint_names if name not in renamed and name not in locked]
    if missing:
        raise ConfigurationError(_missing_text(model, log_names, renamed, missing))
    if len(locked) == len(model.joint_names):
        raise ConfigurationError('all joints of the model are held: nothing is left to compare')
    notes = [f'{name} is held at {value:g} (--lock)' for name, value in locked.items()]
    if both := [name for name in renamed if name in locked]:
        notes.append(f'{", ".join(both)} moves in the log but is held in the model')
    if ignored := [name for name in renamed if name not in model.joint_names]:
        notes.append(f'{", ".join(ignored)} of the log is not in the model and not used')
    if locked:
        options = model.options
        model = build_model(
            model.description,
            floating_base=options.floating_base,
            gravity=options.gravity,
            locked=locked,
            armature=options.armature,
            payload=options.payload,
        )
    return MatchedJoints(model, joint_map, locked, tuple(notes))


def _resolve_locks(rules: Sequence[str], joint_names: Sequence[str]) -> dict[str, float]:
    locked: dict[str, float] = {}
    for rule in rules:
        pattern, sign, text = rule.partition(':=')
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not sign or not math.isfinite(value):
            raise ConfigurationError(f"lock '{rule}' is not of the form joint:=number")
        names = [name for name in joint_names if fnmatchcase(name, pattern)]
        if not names:
            raise ConfigurationError(
                f"lock '{rule}' fits no joint of the model; it has: {', '.join(joint_names)}"
            )
        locked.update(dict.fromkeys(names, value))
    return locked


def _missing_text(
    model: RobotModel, log_names: Sequence[str], renamed: Sequence[str], missing: Sequence[str]
) -> str:
    unused = [name for name in renamed if name not in model.joint_names]
    if len(missing) == len(model.joint_names):
        text = 'no joint of the log is in the model'
    else:
        text = f'the log has no joint {", ".join(missing)}'
    ways = []
    rule = suggest_joint_map(unused, missing) if unused else None
    if rule is not None:
        joint_map = resolve_joint_map([rule], unused)
        missing = [name for name in missing if name not in joint_map.values()]
        ways.append(f'--map {rule}')
    elif unused:
        ways.append('--map log_name:=model_name')
    if missing and (rule is not None or not unused):
        # The number is for the user to choose: it is where the joint was.
        ways.append('--lock ' + ' '.join(f'{name}:=POSITION' for name in missing))
    sets = f'log: {", ".join(log_names)}; model: {", ".join(model.joint_names)}'
    return f'{text} ({sets}); try {" ".join(ways)}'

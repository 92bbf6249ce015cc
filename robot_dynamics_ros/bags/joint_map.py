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
Bring the joint names of a log to those of a model.

A rule ``from:=to`` is read as in ROS remapping: from the log to the model. If a joint of the log
is called `from`, it is renamed; otherwise `from` is a prefix, and every joint that begins with it
gets `to` instead.

"""

from __future__ import annotations

from collections.abc import Sequence
import os

from robot_dynamics_ros.core.exceptions import ConfigurationError


def resolve_joint_map(rules: Sequence[str], log_names: Sequence[str]) -> dict[str, str]:
    """
    Apply rules to the joints of a log.

    Parameters
    ----------
    rules : sequence of str
        Each ``from:=to``; whole names win over prefixes, longer prefixes over shorter ones.
    log_names : sequence of str
        Joint names of the log.

    Returns
    -------
    joint_map : dict
        New name of every renamed joint.

    Raises
    ------
    ConfigurationError
        If a rule is not of that form, fits no joint, or two joints get the same name.

    Examples
    --------
    >>> resolve_joint_map(['fer_joint:=panda_joint'], ['fer_joint1', 'fer_joint2'])
    {'fer_joint1': 'panda_joint1', 'fer_joint2': 'panda_joint2'}

    """
    whole: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    for rule in rules:
        source, sign, target = rule.partition(':=')
        if not sign or (not target and (not source or source in log_names)):
            raise ConfigurationError(f"joint map '{rule}' is not of the form log_name:=model_name")
        if source in log_names:
            whole[source] = target
        elif any(name.startswith(source) for name in log_names):
            prefixes[source] = target
        else:
            raise ConfigurationError(
                f"joint map '{rule}' fits no joint of the log; it has: {', '.join(log_names)}"
            )
    joint_map = {}
    for name in log_names:
        fitting = [prefix for prefix in prefixes if name.startswith(prefix)]
        if name in whole:
            joint_map[name] = whole[name]
        elif fitting:
            prefix = max(fitting, key=len)
            joint_map[name] = prefixes[prefix] + name[len(prefix) :]
    renamed = [joint_map.get(name, name) for name in log_names]
    if twice := sorted({name for name in renamed if renamed.count(name) > 1}):
        raise ConfigurationError(f'the joint map gives two joints the name {", ".join(twice)}')
    return joint_map


def suggest_joint_map(log_names: Sequence[str], model_names: Sequence[str]) -> str | None:
    """
    Look for one prefix rule that brings log names to model names.

    Returns
    -------
    rule : str or None
        The rule that fits most joints, if it fits at least one and no other fits as many.

    Examples
    --------
    >>> suggest_joint_map(['fer_joint1', 'fer_joint2'], ['panda_joint1', 'panda_joint2', 'finger'])
    'fer:=panda'

    """
    scores: dict[tuple[str, str], int] = {}
    for log_name in log_names:
        for model_name in model_names:
            suffix = os.path.commonprefix([log_name[::-1], model_name[::-1]])
            cut = len(suffix)
            if not cut:
                continue
            rule = (log_name[: len(log_name) - cut], model_name[: len(model_name) - cut])
            if rule not in scores:
                prefix, replacement = rule
                scores[rule] = sum(
                    name.startswith(prefix) and replacement + name[len(prefix) :] in model_names
                    for name in log_names
                )
    if not scores:
        return None
    best = max(scores.values())
    winners = [rule for rule, score in scores.items() if score == best]
    if best < 1 or len(winners) > 1:
        return None
    return f'{winners[0][0]}:={winners[0][1]}'

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

"""Fail if a test was skipped for a reason that has no place where everything is installed."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

ALLOWED = (
    'shared data not here',  # data beside a development checkout
    'ROS 2 launch is not installed',  # not among the wheels
    'the sdf parser of Gazebo is not installed',  # ign sdf, gz sdf
    'this linter of ROS 2 is not installed',
    'distributed is not installed',  # optional, and not small
    'cvxpy and clarabel are not installed',  # optional, and not small
    'no joint moves',  # files of public robots that have none
    'refused: ',  # files of public robots that are not usable
)


def main(path: str) -> int:
    root = ElementTree.parse(path).getroot()
    wrong = 0
    for case in root.iter('testcase'):
        skipped = case.find('skipped')
        if skipped is None or skipped.get('type') == 'pytest.xfail':
            continue
        message = skipped.get('message', '')
        if not any(reason in message for reason in ALLOWED):
            wrong += 1
            print(f'skipped: {case.get("classname")}.{case.get("name")}: {message}')
    if root.find('.//testcase') is None:  # an element without children is false
        print('no test was run')
        return 1
    return int(wrong > 0)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))

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

"""Memory of `robot_dynamics identify` on an hour of seven joints at 1 kHz."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / 'benchmark' / 'identification_memory.py'


@pytest.mark.soak
def test_hour_of_seven_joints_needs_no_more_than_a_gigabyte() -> None:
    # The samples alone, read whole, are 0.63 GB, and filtered and differentiated 3 GB.
    command = [sys.executable, str(BENCHMARK), '--lengths', '3600', '--most-memory', '1000']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

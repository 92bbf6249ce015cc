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
`robot_dynamics compile`: compile every kernel, ahead of the first start of a node.

For the image of a container, or after an update: the kernels are kept where the nodes of this user
look for them. Exit code 0.

"""

from __future__ import annotations

import argparse
from concurrent.futures import as_completed, ProcessPoolExecutor
import multiprocessing
import os
from pathlib import Path
import time
from typing import Any

import robot_dynamics_ros
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import whole_number_between


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'compile',
        help='compile every kernel, ahead of the first start of a node',
        description='Compile every kernel of the dynamics that is not kept yet, so that the first '
        'start of a node need not. NUMBA_CACHE_DIR says where they are kept, for the nodes as '
        "well; the user's cache folder by default.",
    )
    parser.add_argument(
        '--jobs',
        type=whole_number_between(1),
        default=min(4, os.cpu_count() or 1),
        metavar='N',
        help='processes that compile; by default one for each core, at most 4',
    )


def run(args: argparse.Namespace) -> int:
    """Compile, and say how long it took; return 0."""
    # Here, so that --help does not wait for numba.
    from robot_dynamics_ros.core.jit import cache_directory
    from robot_dynamics_ros.tools.compile_steps import compile_step, STEPS

    began = time.monotonic()
    context = multiprocessing.get_context('spawn')
    with (
        Progress('compiling', len(STEPS)) as progress,
        ProcessPoolExecutor(min(args.jobs, len(STEPS)), mp_context=context) as workers,
    ):
        for done in as_completed([workers.submit(compile_step, name) for name in STEPS]):
            done.result()
            progress.advance()
    core = Path(robot_dynamics_ros.__file__).parent / 'core'
    kept = cache_directory(core / 'dynamics').parent
    print(f'all kernels are compiled: {time.monotonic() - began:.0f} s. They are kept in {kept}')
    return 0

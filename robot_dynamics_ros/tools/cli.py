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
The `robot_dynamics` command: one subcommand per module of this folder.

Only the module of the command that was asked for is imported, so a command works even where
another lacks a package. What goes wrong with the user's input is one line on stderr and exit code
1, never a traceback.

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import importlib
import os
import shlex
import sys
from types import ModuleType

from robot_dynamics_ros import __version__
from robot_dynamics_ros.core.exceptions import RobotDynamicsError

COMMANDS = {
    'inspect': 'show what a URDF or xacro file holds, and every finding on it',
    'crosscheck': 'compare every quantity with Pinocchio on a URDF file',
    'bag-info': 'show what is in a log, and whether it is fit for identification',
    'replay': 'compare the model torques of a recorded bag with the measured ones',
    'identify': 'identify masses, inertias and friction from recorded motion and efforts',
    'payload': 'identify what an arm carries: mass, centre of mass and inertia',
    'annotate': 'fill in the efforts of a joint trajectory by inverse dynamics',
    'torque-report': 'say what a motion asks of each drive',
    'energy': 'show how well each integrator keeps the energy of a free motion',
    'simulate': 'simulate a robot under a control law, with contact, friction, drives and sensors',
    'excite': 'make a motion for the identification of the dynamic parameters',
    'compile': 'compile every kernel, ahead of the first start of a node',
    'demo': 'drive a simulated ES5 along a trajectory on model torques',
}


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    exit_code : int
        0, or 1 if the command refused or failed, 2 if the arguments are wrong, 130 if it was
        interrupted.

    """
    # Threads of BLAS gain nothing on matrices of a robot, and cost much on a busy machine.
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in arguments if not word.startswith('-')), None)
    parser = argparse.ArgumentParser(
        prog='robot_dynamics', description='Rigid-body dynamics of robot arms.'
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    module: ModuleType | None = None
    try:
        for name, text in COMMANDS.items():
            if name == command:
                module = importlib.import_module(_module_of(name))
                module.add_parser(subparsers)
            else:
                subparsers.add_parser(name, help=text)
        line = shlex.join(['robot_dynamics', *arguments])
        options = parser.parse_args(arguments, argparse.Namespace(command_line=line))
        return int(module.run(options)) if module is not None else 2
    except ImportError as error:
        return _failed(command, f'cannot be loaded: {error}')
    except BrokenPipeError:
        # The reader has left, as in `robot_dynamics inspect arm.urdf | head`; spare it the error
        # at exit, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (RobotDynamicsError, OSError) as error:
        return _failed(command, str(error))
    except KeyboardInterrupt:
        return 130


def _module_of(command: str) -> str:
    return f'robot_dynamics_ros.tools.{command.replace("-", "_")}'


def _failed(command: str | None, reason: str) -> int:
    print(f'robot_dynamics {command}: {" ".join(reason.split())}', file=sys.stderr)
    return 1


if __name__ == '__main__':
    sys.exit(main())

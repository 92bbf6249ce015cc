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
Identification side by side with FIGAROH: the same data, the same robot, the same measure.

1. 100 000 samples of the simulated ES5, which follows a multisine under computed torque with
   Coulomb friction and sensor noise. Once from the same filtered samples, none left out, for the
   time of regressor, base parameters and weighted least squares; once from the raw log, each with
   its own filter, differentiation and decimation.
2. The log of a real UR10, if the path of its rosbag is given: 18 s for training, the
   rest held out.

Both have the same columns: ten inertial parameters of each link, viscous and Coulomb friction
with sharp signs, offset, and the rotors' inertia where the table says so. Cutoffs and the factor
of the decimation are the same. Held-out samples are filtered by our filter, the efforts predicted
from them by our regressor for both, and both filtered alike at the cutoff of the rows, so that
only the parameters differ. One thread each. FIGAROH runs in a process of its own, whose start and
imports are not counted.

FIGAROH's physically consistent fit is the one of its reference example (``select_stage:
physical_fit``, cvxopt), after weighted least squares and, if that is rejected, without weights;
ours is `consistent_fit` with weight one. Both have a description whose links are up to 20 % too
light or too heavy as prior. The table counts bodies that can exist and the share of 1000 poses
with a positive definite mass matrix, rotors included.

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import numpy as np
from numpy.typing import NDArray

from identification_problems import Problem, RATE, real_problem, simulated_problem
from robot_dynamics_ros.core.dynamics import dynamic_parameters
from robot_dynamics_ros.core.identification.base_parameters import random_positions
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.possible_bodies import body_pseudo_inertia
from robot_dynamics_ros.core.identification.regression_rows import regression_rows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf

Array = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
PACKAGE = 'figaroh==1.0.2'
POSES = 1000


@dataclass(frozen=True)
class Found:
    """Parameters in all columns and the time that it took [s]; rows per joint."""

    parameters: Array
    seconds: float
    rows: int
    note: str = ''


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description='Identification side by side with FIGAROH.')
    parser.add_argument('--figaroh-python', default=sys.executable, metavar='PYTHON',
                        help='a Python that has FIGAROH; this one by default')  # fmt: skip
    parser.add_argument('--samples', type=int, default=100_000, help='of the simulation')
    parser.add_argument('--ur10-bag', default='', help='log of a real UR10, with --ur10-urdf')
    parser.add_argument('--ur10-urdf', default='')
    args = parser.parse_args(arguments)
    python = args.figaroh_python if has_figaroh(args.figaroh_python) else ''
    if not python:
        print(f'FIGAROH is not there: {missing(args.figaroh_python)}; ours alone')
    problem = simulated_problem(args.samples)
    same_samples(problem, python)
    own_chains(problem, python)
    if args.ur10_bag and args.ur10_urdf:
        own_chains(real_problem(args.ur10_bag, args.ur10_urdf), python)
    else:
        print('\nreal log left out: give --ur10-bag and --ur10-urdf')


def has_figaroh(python: str) -> bool:
    """Whether a Python can import FIGAROH."""
    try:
        check = subprocess.run([python, '-c', 'import figaroh'], capture_output=True, check=False)
    except OSError:
        return False
    return check.returncode == 0


def missing(python: str) -> str:
    """Say how to get FIGAROH."""
    return (
        f'{python} cannot import it; make a venv with `pip install {PACKAGE}` and give its python '
        'with --figaroh-python'
    )


def same_samples(problem: Problem, python: str) -> None:
    """Both get the same filtered samples and leave none out."""
    log = problem.training
    samples = joint_samples(
        log.stamps, log.position, None, log.effort, problem.motion_cutoff, rate=RATE
    )
    used = np.flatnonzero(samples.use.all(axis=1))
    samples = samples.picked(slice(int(used[0]), int(used[-1]) + 1))
    print(f'\n{problem.title}; the same filtered samples, all of them')
    fit, whole = ours(problem, lambda: samples, None)
    theirs: dict[str, Found] = {}
    if python:
        arrays = {
            'timestamps': samples.stamps,
            'positions': samples.q,
            'velocities': samples.v,
            'accelerations': samples.a,
            'torques': samples.tau,
        }
        theirs = figaroh(problem, python, arrays, 1, is_prepared=True)
    report(problem, fit, whole, theirs)


def own_chains(problem: Problem, python: str) -> None:
    """Both start from the raw log."""
    log = problem.training
    print(f'\n{problem.title}; from the raw log, each with its own chain')

    def chain() -> JointSamples:
        return joint_samples(log.stamps, log.position, None, log.effort, problem.motion_cutoff)

    fit, whole = ours(problem, chain, problem.cutoff)
    theirs: dict[str, Found] = {}
    if python:
        rate = 1.0 / float(np.median(np.diff(log.stamps)))
        arrays = {'timestamps': log.stamps, 'positions': log.position, 'torques': log.effort}
        factor = max(1, int(rate / (8.0 * problem.cutoff)))
        theirs = figaroh(problem, python, arrays, factor, is_prepared=False)
    report(problem, fit, whole, theirs)


def ours(problem: Problem, chain: Any, cutoff: float | None) -> tuple[Found, Found]:
    """Return the weighted least squares fit and the consistent one."""
    robot, structure = problem.model.robot, problem.model.structure

    def run() -> tuple[Found, Found]:
        start = time.perf_counter()
        samples = chain()
        model = identification_model(robot, structure)
        rows = regression_rows(model, samples, cutoff)
        factors = accumulated(rows, model.columns_of_joint, model.base.rank)
        fit = weighted_least_squares(factors)
        middle = time.perf_counter()
        found = consistent_fit(model, fit)
        end = time.perf_counter()
        parameters = np.zeros(len(model.names))
        parameters[list(model.base.independent)] = fit.base
        count = int(factors.samples[0])
        return (
            Found(parameters, middle - start, count),
            Found(np.array(found.parameters), end - start, count),
        )

    run()  # kernels are loaded
    return min((run() for _ in range(3)), key=lambda pair: pair[1].seconds)


def figaroh(
    problem: Problem, python: str, arrays: dict[str, Array], factor: int, is_prepared: bool
) -> dict[str, Found]:
    """Run FIGAROH; parameters come back in our order."""
    model = problem.model
    settings = {
        'rate': float(1.0 / np.median(np.diff(problem.training.stamps))),
        'cutoff': problem.motion_cutoff,
        'decimation': factor,
        'is_prepared': is_prepared,
        'has_rotors': model.structure.rotor_inertia,
        'rotors': [0.0] * model.robot.nv,
    }
    with tempfile.TemporaryDirectory() as folder:
        given, result, urdf = (
            str(Path(folder) / name) for name in ('given.npz', 'found.npz', 'arm.urdf')
        )
        np.savez(given, settings=json.dumps(settings), **arrays)
        Path(urdf).write_text(clean_urdf(model.robot.description).text)
        command = [python, '-c', 'import figaroh_worker; figaroh_worker.main()']
        run = subprocess.run(
            [*command, given, result, urdf],
            env={**os.environ, 'PYTHONPATH': str(HERE)},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            print(f'FIGAROH failed: {run.stderr.strip().splitlines()[-1]}')
            return {}
        found = dict(np.load(result))
    names = {'fit': 'fit', 'physical_fit': 'consistent'}
    return {
        names[stage]: Found(
            in_our_order(model, found[f'{stage}_parameters']),
            float(found[f'{stage}_seconds'].sum()),
            int(found[f'{stage}_rows']),
            f'rank {found[f"{stage}_rank"]}, {found[f"{stage}_status"]}',
        )
        for stage in names
    }


def in_our_order(model: IdentificationModel, theirs: Array) -> Array:
    """FIGAROH has all viscous terms, then Coulomb, rotors and offsets; ours go by joint."""
    nv, n = model.robot.nv, model.n_inertial
    parameters = np.zeros(len(model.names))
    parameters[:n] = theirs[:n]
    for block, term in enumerate(('viscous', 'coulomb', 'rotor_inertia', 'offset')):
        for j, joint in enumerate(model.robot.v_names):
            parameters[model.names.index(f'{joint}/{term}')] = theirs[n + block * nv + j]
    return parameters


def report(problem: Problem, fit: Found, whole: Found, theirs: dict[str, Found]) -> None:
    """Print one table."""
    model = problem.model
    stated = np.array(model.prior)
    stated[: model.n_inertial] = dynamic_parameters(model.robot)
    cutoffs = f'{problem.cutoff:.3g} and {problem.motion_cutoff:.3g} Hz'
    print(f'rank {model.base.rank}, cutoffs of rows and of motion {cutoffs}')
    print(f'{"":26}{"rows":>8}{"time [s]":>10}{"held-out":>10}{"bodies":>8}{"M > 0":>8}')
    table = {
        'description': Found(stated, np.nan, 0),
        'ours, WLS': fit,
        'FIGAROH, WLS': theirs.get('fit'),
        'ours, consistent': whole,
        'FIGAROH, consistent': theirs.get('consistent'),
    }
    for name, found in table.items():
        if found is None:
            continue
        error = held_out_error(problem, found.parameters)
        possible, positive = consistency(model, found.parameters)
        # Base parameters say nothing about single bodies.
        bodies = '-' if name.endswith('WLS') else f'{possible}/{model.robot.nbodies}'
        print(
            f'{name:26}{found.rows:8}{found.seconds:10.3f}{100 * error:8.3f} %'
            f'{bodies:>8}{100 * positive:6.1f} %  {found.note}'
        )
    for name, mine, other in (('fit', fit, 'WLS'), ('consistent', whole, 'with consistency')):
        if name in theirs:
            what = 'time, FIGAROH / ours'
            print(f'{what}, {other}: {theirs[name].seconds / mine.seconds:.1f}')


def held_out_error(problem: Problem, parameters: Array) -> float:
    """Return the errors over the efforts, each joint's filtered, root of the sums of squares."""
    samples = problem.held_out
    if not np.isfinite(parameters).all():
        return np.nan
    predicted = problem.model.efforts(parameters, samples.q, samples.v, samples.a)
    low_pass = ZeroPhaseFilter(problem.cutoff)
    predicted = low_pass.filtered(samples.stamps, predicted)
    measured = low_pass.filtered(samples.stamps, samples.tau)
    return float(np.linalg.norm(predicted - measured) / np.linalg.norm(measured))


def consistency(model: IdentificationModel, parameters: Array) -> tuple[int, float]:
    """Return how many bodies can exist, and the share of poses with a positive mass matrix."""
    if not np.isfinite(parameters).all():
        return 0, 0.0
    bodies = parameters[: model.n_inertial].reshape(-1, 10)
    possible = sum(np.linalg.eigvalsh(body_pseudo_inertia(body))[0] > 0.0 for body in bodies)
    q = random_positions(model.robot, POSES, np.random.default_rng(5))
    rest = np.zeros_like(q)
    gravity = model.efforts(parameters, q, rest, rest)
    mass = np.stack(
        [
            model.efforts(parameters, q, rest, rest + unit) - gravity
            for unit in np.eye(model.robot.nv)
        ],
        axis=2,
    )
    smallest = np.linalg.eigvalsh(0.5 * (mass + mass.transpose(0, 2, 1)))[:, 0]
    return possible, float(np.mean(smallest > 0.0))


if __name__ == '__main__':
    main()

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
from dataclasses import dataclass, replace
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

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.identification.base_parameters import random_positions
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.excitation_spectrum import chosen_cutoff
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.possible_bodies import body_pseudo_inertia
from robot_dynamics_ros.core.identification.regression_rows import regression_rows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
PACKAGE = 'figaroh==1.0.2'
POSES = 1000
RATE = 1000.0


@dataclass(frozen=True)
class Log:
    """A log: stamps [s], positions [rad], efforts [N m]."""

    stamps: Array
    position: Array
    effort: Array

    def part(self, start: float, stop: float) -> Log:
        """Return the samples with ``start <= stamp < stop``."""
        rows = slice(*np.searchsorted(self.stamps, [start, stop]))
        return Log(self.stamps[rows], self.position[rows], self.effort[rows])


@dataclass(frozen=True)
class Problem:
    """What both are given."""

    title: str
    model: IdentificationModel
    training: Log
    held_out: JointSamples
    cutoff: float
    motion_cutoff: float


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


def simulated_problem(samples: int) -> Problem:
    """Simulate the ES5: `samples` for training and a fifth of that with another motion."""
    robot = load_urdf(urdf_path('es5.urdf.xacro')).with_armature([1.0, 1.0, 0.7, 0.1, 0.1, 0.05])
    viscous = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
    coulomb = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
    friction = DryFriction(robot.v_names, viscous, coulomb, coulomb, np.array(1.0), np.array(0.05))
    rng = np.random.default_rng(1)
    spread = np.array([0.8, 1.5, 1.0, 0.3, 0.3, 0.2])  # [N m]
    logs = []
    for seed, count in ((3, samples), (4, samples // 5)):
        log = simulated_log(robot, friction, count, seed)
        noise = rng.normal(size=(2, count, robot.nv))
        position = log.position + 2e-5 * noise[0]
        logs.append(Log(log.stamps, position, log.effort + spread * noise[1]))
    prior = disturbed(load_urdf(urdf_path('es5.urdf.xacro')), np.random.default_rng(2))
    model = identification_model(prior, ModelStructure())
    return prepared(f'simulated ES5, {samples} samples at {RATE:g} Hz', model, *logs)


def simulated_log(robot: RobotModel, friction: DryFriction, count: int, seed: int) -> Log:
    """Let the arm follow five harmonics up to 0.5 Hz; the effort at a stamp is that around it."""
    rng = np.random.default_rng(seed)
    stamps = np.arange(count) / RATE
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    share = rng.uniform(-1.0, 1.0, (robot.nv, 5)) * 1.2 / np.sqrt(np.arange(1, 6))
    angle = w[:, None] * stamps + rng.uniform(0.0, 2.0 * np.pi, (robot.nv, 5))[..., None]
    reference = [
        np.einsum('jk,jkt->tj', share * w**power, np.sin(angle + 0.5 * np.pi * power))
        for power in range(3)
    ]
    plant = Plant(robot, friction, dt_internal=1.0 / RATE, q=reference[0][0], v=reference[1][0])
    q, tau = np.zeros((2, count, robot.nv))
    state = plant.state
    for k in range(count):
        q[k] = state.q
        pull = 400.0 * (reference[0][k] - state.q) + 40.0 * (reference[1][k] - state.v)
        tau[k] = rnea(robot, state.q, state.v, reference[2][k] + pull)
        state = plant.step(tau[k], 1.0 / RATE)
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    return Log(stamps, q, tau)


def real_problem(bag: str, urdf: str) -> Problem:
    """Read the log of a UR10."""
    robot = load_urdf(Path(urdf))
    log = read_joint_log(bag).select(robot.joint_names)
    assert log.effort is not None
    whole = Log(log.stamps, log.position, log.effort)
    model = identification_model(robot, ModelStructure())
    parts = whole.part(0.0, 18.0), whole.part(18.0, np.inf)
    return prepared(f'real UR10, {len(parts[0].stamps)} samples, {log.rate:.0f} Hz', model, *parts)


def disturbed(robot: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return the robot with each link's density changed by up to 20 %, a wrong description."""
    links = []
    for link in robot.description.links:
        if link.inertial is not None:
            scale = rng.uniform(0.8, 1.2)
            inertial = replace(
                link.inertial,
                mass=scale * link.inertial.mass,
                inertia=scale * np.asarray(link.inertial.inertia),
            )
            link = replace(link, inertial=inertial)
        links.append(link)
    return build_model(replace(robot.description, links=tuple(links)))


def prepared(title: str, model: IdentificationModel, training: Log, held_out: Log) -> Problem:
    """Choose the cutoffs and filter what is held out."""
    choice = chosen_cutoff(training.stamps, training.position)
    samples = joint_samples(
        held_out.stamps, held_out.position, None, held_out.effort, choice.motion_cutoff
    )
    inner = samples.between(samples.stamps[0] + 0.5, samples.stamps[-1] - 0.5)
    return Problem(title, model, training, inner, choice.cutoff, choice.motion_cutoff)


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
    if theirs:
        print(
            f'FIGAROH / ours: WLS {theirs["fit"].seconds / fit.seconds:.1f}, '
            f'with consistency {theirs["consistent"].seconds / whole.seconds:.1f}'
        )


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

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

"""Installation of robot_dynamics_ros, by pip and by the ament_python build of ROS 2."""

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'robot_dynamics_ros'
NODES = [
    'inverse_dynamics_node',
    'gravity_compensation_node',
    'forward_simulation_node',
    'trajectory_annotator_node',
    'joint_force_relay_node',
    'effort_watchdog_node',
    'differential_drive_node',
    'excitation_node',
    'identification_node',
    'monitor_node',
    'external_torque_node',
]

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Robot dynamics for ROS 2: inverse dynamics, gravity compensation, simulation.',
    maintainer='robot_dynamics_ros maintainers',
    maintainer_email='maintainers@example.com',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={f'{PACKAGE}.report': ['*.js']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/launch', sorted(glob('launch/*.launch.py'))),
        (f'share/{PACKAGE}/config', sorted(glob('config/*.*'))),
        (f'share/{PACKAGE}/config/worlds', sorted(glob('config/worlds/*.yaml'))),
        (f'share/{PACKAGE}/config/gazebo', sorted(glob('config/gazebo/*.yaml'))),
        (f'share/{PACKAGE}/worlds', sorted(glob('worlds/*.sdf'))),
        (f'share/{PACKAGE}/urdf', sorted(glob('urdf/*.urdf') + glob('urdf/*.urdf.xacro'))),
        (f'share/{PACKAGE}/urdf/benchmark', sorted(glob('urdf/benchmark/*.urdf'))),
    ],
    zip_safe=False,
    # The same list as requirements/runtime.txt; ROS itself comes from a ROS 2 installation or
    # from the wheels of requirements/ros.txt.
    install_requires=[
        'matplotlib>=3.5',
        'numba>=0.58',
        'numpy>=1.26',
        'PyYAML>=5.4',
        'rosbags>=0.10',
        'scipy>=1.11',
        'urdf_parser_py>=0.0.4',
        'xacro>=2.0',
    ],
    extras_require={
        'contact': ['coal'],
        'crosscheck': ['pin>=2.7'],
        'dask': ['distributed>=2022.1'],
        'matrix_inequalities': ['cvxpy>=1.4'],
        'symbolic': ['sympy'],
        'test': ['pytest'],
    },
    entry_points={
        'console_scripts': [
            *(f'{node} = {PACKAGE}.nodes.{node}:main' for node in NODES),
            f'wait_for_state = {PACKAGE}.ros.wait_for_state:main',
            f'robot_dynamics = {PACKAGE}.tools.cli:main',
        ],
    },
)

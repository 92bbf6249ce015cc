"""Robot models: from URDF or DH tables to the frozen `RobotModel` that the dynamics use."""

from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.dh import description_from_dh
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import Frame, Limits, RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf, read_urdf
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf, rewrite_urdf_file

__all__ = [
    'Frame',
    'Limits',
    'Payload',
    'RobotDescription',
    'RobotModel',
    'build_model',
    'description_from_dh',
    'load_urdf',
    'read_urdf',
    'rewrite_urdf',
    'rewrite_urdf_file',
]

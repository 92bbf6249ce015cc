"""Comparison with Pinocchio: the only folder that imports it, and only when a comparison runs."""

from robot_dynamics_ros.crosscheck.compare import crosscheck_model
from robot_dynamics_ros.crosscheck.report import CrosscheckReport, CrosscheckRow

__all__ = ['CrosscheckReport', 'CrosscheckRow', 'crosscheck_model']

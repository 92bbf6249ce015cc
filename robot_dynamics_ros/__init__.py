"""Robot dynamics for ROS 2: inverse dynamics, gravity compensation, simulation."""

__version__ = '0.1.0'

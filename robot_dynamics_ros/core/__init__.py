"""
Everything that needs no ROS.

Model, dynamics, friction, trajectories, control and simulation.

"""

"""Everything that needs no ROS: model, dynamics, friction, trajectories, control and simulation."""

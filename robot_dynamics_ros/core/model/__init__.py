"""Robot models: from URDF or DH tables to the frozen `RobotModel` that the dynamics use."""

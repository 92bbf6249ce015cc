"""The border between ROS 2 and core."""

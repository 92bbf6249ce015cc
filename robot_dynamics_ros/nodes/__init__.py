"""The ROS 2 nodes."""

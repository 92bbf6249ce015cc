"""Reading and writing of logs: streams of named arrays, without ROS (rosbags)."""

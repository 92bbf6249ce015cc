"""The robot as a plant that answers torques with motion."""

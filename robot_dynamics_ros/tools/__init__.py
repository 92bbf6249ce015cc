"""The command line `robot_dynamics`: one module for each subcommand."""

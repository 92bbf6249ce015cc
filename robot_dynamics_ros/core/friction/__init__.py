"""Joint friction: smooth for commands, with true sticking for simulation."""

"""From a reference and the measured state to a safe torque: buffer, control laws, guard."""

"""References in time: splines through trajectory points, streamed points and the ES5 scenarios."""

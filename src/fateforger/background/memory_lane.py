"""The name of the memory lane and its kinds of jobs."""

MEMORY_LANE = "memory"
WRITE, TIDY = "write", "tidy"

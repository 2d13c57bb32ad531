"""The lane of memory, and what there is to do on it."""

MEMORY_LANE = "memory"
WRITE, TIDY = "write", "tidy"

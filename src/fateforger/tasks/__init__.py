"""Task queue: tasks, their order, and their state transitions."""

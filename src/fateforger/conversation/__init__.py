"""Coordination of sessions: commands, turns, effects and messages, and the work of the task queue."""

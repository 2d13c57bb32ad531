"""Loaded by the process that all runs are forks of, so that they share the one that has the real program loaded."""

from tests.command_line import programs

programs()

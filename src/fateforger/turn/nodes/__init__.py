"""Nodes of a turn's graph as pure functions, independent of AutoGen."""

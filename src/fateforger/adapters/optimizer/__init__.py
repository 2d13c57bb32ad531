"""Optimizer of drafts: CP-SAT, which is optional."""

"""Comparison of a plan with a calendar, the journal of writes, and the engine that carries them out."""

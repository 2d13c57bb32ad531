"""Recorded turns, as values that can be stored and replayed: input, prompts, and output."""

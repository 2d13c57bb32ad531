"""Carry out tasks: pull them, apply the rules of their workflow, and verify them before they count as done."""

"""Carrying out tasks: what was pulled, under the rules of its workflow, verified before it counts as done."""

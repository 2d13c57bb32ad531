"""Construct the adapters, here and nowhere else: for the whole program, or for the parts that a command needs."""

"""Typed values that a model reads from a message, and the commands they map to (K4).

Nothing here inspects the words themselves.
"""

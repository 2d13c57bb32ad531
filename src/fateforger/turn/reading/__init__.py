"""Typed values that a model reads from a message, and the commands they stand for (K4).

Nothing here inspects the words themselves.
"""

"""Protocols of outside things that no feature owns."""

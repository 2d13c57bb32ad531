"""The doors a person or a program types: ``fateforger COMMAND``."""

from fateforger.cli.main import main

__all__ = ["main"]

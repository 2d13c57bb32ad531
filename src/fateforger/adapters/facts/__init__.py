"""The facts on this machine that predicates may check: files and commands, each allowed by name in one file."""

from fateforger.adapters.facts.allowed import AllowedCommand, AllowList, read_allow_file, read_allow_list
from fateforger.adapters.facts.local import LocalFacts

__all__ = ["AllowList", "AllowedCommand", "LocalFacts", "read_allow_file", "read_allow_list"]

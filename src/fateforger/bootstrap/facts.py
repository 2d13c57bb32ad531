"""The facts that predicates may look up: none, unless the settings name a file that allows some."""

from __future__ import annotations

from fateforger.adapters.facts import AllowList, LocalFacts, read_allow_file
from fateforger.config import Settings
from fateforger.ports import Facts


def build_facts(settings: Settings) -> Facts:
    """Return the facts of this machine. Raises :class:`BadInput` for a file that cannot be used."""
    return LocalFacts(AllowList() if settings.facts is None else read_allow_file(settings.facts))

"""One finding of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["real", "local", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """``real``: an outside service that answers. ``local``: the embedded stand-in. ``missing``: not needed, not there.
    ``broken``: configured, but it does not work; ``fix`` says what to do."""

    name: str
    state: State
    message: str
    fix: str = ""

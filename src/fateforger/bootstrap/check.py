"""The result of one check of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["real", "local", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part of the configuration.

    ``real``: an outside service that answers. ``local``: the embedded stand-in. ``missing``: optional and not
    configured. ``broken``: configured, but it does not work; ``fix`` tells the person what to do.
    """

    name: str
    state: State
    message: str
    fix: str = ""

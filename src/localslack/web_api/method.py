"""Declaration of a Web API method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from localslack.web_api.arguments import Arguments
from localslack.workspace import Workspace

Handler = Callable[[Workspace, Arguments], Mapping[str, Any]]
"""Carries out a call and returns the answer without `ok`; never waits, so calls do not interleave."""


@dataclass(frozen=True)
class Method:
    """A method with what is checked before it runs: token, scopes (any one of them), required arguments."""

    run: Handler
    scopes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    caller: Literal["bot", "app", "anyone"] = "bot"

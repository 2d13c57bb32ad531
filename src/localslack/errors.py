"""Refusals of the workspace, for the app and for the person."""

from typing import Any


class SlackError(Exception):
    """A Web API call is answered with `ok: false`; `code` is Slack's error code, `details` go into the answer."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details

    def body(self) -> dict[str, Any]:
        return {"ok": False, "error": self.code, **self.details}


def bad_arguments(*messages: str) -> SlackError:
    """`invalid_arguments` with one line per finding, in the form Slack gives them."""
    return SlackError(
        "invalid_arguments",
        response_metadata={"messages": [f"[ERROR] {message}" for message in messages]},
    )


class Refusal(Exception):
    """Refusal of a person's action; the text is the sentence they read."""

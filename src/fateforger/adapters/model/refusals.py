"""Translate failures of a model server into our errors.

The server's own words are left out: they may contain a part of the key or of the prompt.
"""

from __future__ import annotations

import openai

from fateforger.errors import (
    ModelAuthFailed,
    ModelBusy,
    ModelError,
    ModelRejected,
    ModelTimedOut,
    ModelUnreachable,
)

NO_COMPLETION = "The language model's server answered with something that is no completion."


def to_model_error(error: openai.OpenAIError, *, model: str) -> ModelError:
    """Return our error for an error of the client library."""
    match error:
        case openai.APITimeoutError():
            return ModelTimedOut("The language model took too long to answer.")
        case openai.APIConnectionError():
            return ModelUnreachable("The language model's server cannot be reached.")
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return ModelAuthFailed("The language model's server refused the key; check FATEFORGER_MODEL_KEY.")
        case openai.RateLimitError():
            return ModelBusy(
                "The language model wants fewer requests right now.", retry_after=_parse_retry_after(error)
            )
        case openai.NotFoundError():
            return ModelRejected(f"The language model's server knows no model “{model}” at that address.")
        case openai.InternalServerError():
            return ModelUnreachable("The language model's server has a fault.")
        case openai.APIStatusError():
            return ModelRejected(f"The language model's server refused the request ({error.status_code}).")
        case _:
            return ModelUnreachable(NO_COMPLETION)


def _parse_retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds to wait, if the server gave a number of seconds."""
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None

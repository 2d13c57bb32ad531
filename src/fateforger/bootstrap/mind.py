"""The language model that is configured, if one is."""

from __future__ import annotations

from fateforger.config import Settings
from fateforger.ports import Model


def configured_model(settings: Settings) -> Model | None:
    """The model, with nothing connected yet; ``None`` when none is configured. Raises ``BadInput``."""
    if settings.model is None:
        return None
    from fateforger.adapters.model import open_model  # noqa: PLC0415  heavy
    from fateforger.bootstrap.endpoint import endpoint_of  # noqa: PLC0415  heavy

    return open_model(endpoint_of(settings, settings.model))


def model_words(settings: Settings) -> str:
    """How to speak of it."""
    if settings.model is None:
        return "Language model: none; buttons and forms do the whole job."
    others = ", ".join(f"{name} for {role}" for role, name in settings.model_roles.items())
    where = settings.model_url or settings.model_provider
    return f"Language model: {settings.model} at {where}{f'; {others}' if others else ''}."

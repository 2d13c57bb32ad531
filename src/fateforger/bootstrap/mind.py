"""The configured language model, if there is one."""

from __future__ import annotations

from fateforger.adapters.store import Store
from fateforger.config import Settings
from fateforger.coordinator.counting import CountingModel
from fateforger.ports import Clock, Model


def build_model(settings: Settings) -> Model | None:
    """Return the model; ``None`` if none is configured. It does not connect yet. Raises ``BadInput``."""
    if settings.model is None:
        return None
    from fateforger.adapters.model import open_model  # noqa: PLC0415  heavy
    from fateforger.bootstrap.endpoint import build_endpoint  # noqa: PLC0415  heavy

    return open_model(build_endpoint(settings, settings.model))


def count_usage(model: Model | None, store: Store, clock: Clock, settings: Settings) -> Model | None:
    """Wrap a model so that its costs are added up in the store."""
    return None if model is None else CountingModel(model, store.usage, clock, tz=settings.time_zone)


def describe_model(settings: Settings) -> str:
    """Return a sentence about the configured language model."""
    if settings.model is None:
        return "Language model: none; buttons and forms do the whole job."
    others = ", ".join(f"{name} for {role}" for role, name in settings.model_roles.items())
    where = settings.model_url or settings.model_provider
    return f"Language model: {settings.model} at {where}{f'; {others}' if others else ''}."

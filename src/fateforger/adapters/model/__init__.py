"""Language models behind :class:`fateforger.ports.Model`: any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from fateforger.adapters.model.client import ChatModel, open_model
from fateforger.adapters.model.endpoint import Answers, Endpoint, Price
from fateforger.adapters.model.look import OLLAMA, EndpointReport, look_at_model, ollama_models
from fateforger.adapters.model.providers import PROVIDERS, Provider

__all__ = [
    "OLLAMA",
    "PROVIDERS",
    "Answers",
    "ChatModel",
    "Endpoint",
    "EndpointReport",
    "Price",
    "Provider",
    "look_at_model",
    "ollama_models",
    "open_model",
]

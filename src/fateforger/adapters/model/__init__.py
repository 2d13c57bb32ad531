"""Language models behind :class:`fateforger.ports.Model`: any server with OpenAI's chat completions API."""

from __future__ import annotations

from fateforger.adapters.model.client import ChatModel, open_model
from fateforger.adapters.model.endpoint import Answers, Endpoint, Price
from fateforger.adapters.model.look import EndpointReport, probe_model
from fateforger.adapters.model.providers import PROVIDERS, Provider

__all__ = [
    "PROVIDERS",
    "Answers",
    "ChatModel",
    "Endpoint",
    "EndpointReport",
    "Price",
    "Provider",
    "open_model",
    "probe_model",
]

"""Addresses of well-known model servers with OpenAI's chat completions API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider; ``/chat/completions`` is appended to ``url``. Local servers need no key."""

    name: str
    url: str
    needs_key: bool


PROVIDERS: Mapping[str, Provider] = {
    p.name: p
    for p in (
        Provider("openai", "https://api.openai.com/v1", needs_key=True),
        Provider("openrouter", "https://openrouter.ai/api/v1", needs_key=True),
        Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", needs_key=True),
        Provider("ollama", "http://127.0.0.1:11434/v1", needs_key=False),
        Provider("vllm", "http://127.0.0.1:8000/v1", needs_key=False),
    )
}

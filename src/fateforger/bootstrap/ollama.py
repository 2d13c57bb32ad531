"""Find models that an Ollama server on this machine offers."""

from __future__ import annotations

import httpx

OLLAMA = "http://127.0.0.1:11434"
LOOK_SECONDS = 0.5
"""Seconds to wait for a server that may not exist."""


async def find_ollama_models(url: str = OLLAMA) -> tuple[str, ...]:
    """Return the models of an Ollama server on this machine; none without a server."""
    try:
        async with httpx.AsyncClient(timeout=LOOK_SECONDS, trust_env=False) as http:
            answer = await http.get(f"{url}/api/tags")
            found = answer.json()["models"]
            return tuple(str(model["name"]) for model in found)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return ()

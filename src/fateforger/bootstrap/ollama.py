"""Whether a model is at hand on this machine already."""

from __future__ import annotations

import httpx

OLLAMA = "http://127.0.0.1:11434"
LOOK_SECONDS = 0.5
"""How long to wait for a server that may not be there at all."""


async def ollama_models(url: str = OLLAMA) -> tuple[str, ...]:
    """The models of an Ollama server on this machine; none when there is no server."""
    try:
        async with httpx.AsyncClient(timeout=LOOK_SECONDS, trust_env=False) as http:
            answer = await http.get(f"{url}/api/tags")
            found = answer.json()["models"]
            return tuple(str(model["name"]) for model in found)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return ()

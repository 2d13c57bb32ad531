"""Redact recordings before they are stored: secrets always, people's words unless they are to be kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fateforger.ports import Prompt
from fateforger.turn.recording.pseudonyms import Pseudonyms
from fateforger.turn.recording.redaction import Hide, redact_run
from fateforger.turn.recording.replay import have_same_path, rerun
from fateforger.turn.recording.values import RecordedTurn
from fateforger.values import replace

SECRET = "[secret]"  # noqa: S105  the replacement of a secret
SHORTEST = 8
"""Length from which a secret is searched for everywhere, including our own names and values."""


class Redaction:
    """Redacts recordings.

    ``secrets`` are the tokens, keys and passwords that must not appear in a file. With a ``key``, people's words are
    replaced by pseudonyms; without one they are kept.
    """

    def __init__(self, *, secrets: Sequence[str] = (), key: bytes | None = None) -> None:
        # The longest first: a secret that begins with another one would otherwise leave a fragment.
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
        self._key = key

    async def redact_turn(self, turn: RecordedTurn, prompts: Sequence[Sequence[Prompt]]) -> RecordedTurn:
        """Return the turn in its redacted form, which can still be replayed.

        Inputs are redacted, and the outputs are produced again by rerunning the turn with the same answers. ``prompts``
        are the requests of each run.
        """
        if self._key is None and not self._has_secret(turn):
            return turn
        hide = self._hide()
        told = zip(turn.runs, prompts, strict=True)
        runs = [await rerun(redact_run(run, [prompt.schema for prompt in asked], hide)) for run, asked in told]
        return replace(
            turn,
            titles="kept" if self._key is None else "redacted",
            alike=have_same_path(turn.runs, runs),
            runs=tuple(runs),
        )

    def redact_document(self, document: str) -> str:
        """Return the document without secrets of :data:`SHORTEST` or more characters; a last check before writing."""
        for secret in self._secrets:
            if len(secret) >= SHORTEST:
                document = document.replace(json.dumps(secret, ensure_ascii=False)[1:-1], SECRET)
        return document

    def _has_secret(self, turn: RecordedTurn) -> bool:
        text = turn.model_dump_json()
        return any(secret in text for secret in self._secrets)

    def _hide(self) -> Hide:
        if self._key is not None:
            return Pseudonyms(self._key).text  # leaves nothing of a secret either
        return self._without_secrets

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        return text

"""What is taken out of a recording before it is kept: secrets always, and people's words unless they are to stay."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fateforger.ports import Prompt
from fateforger.turn.recording.pseudonyms import Pseudonyms
from fateforger.turn.recording.redaction import Hide, hidden_run
from fateforger.turn.recording.replay import alike, rerun
from fateforger.turn.recording.values import RecordedTurn

SECRET = "[secret]"  # noqa: S105  what stands in the place of one
SHORTEST = 8
"""Characters of a secret that is looked for anywhere, also in names and values of ours."""


class Cleaning:
    """``secrets`` are what may never be in a file: tokens, keys, passwords. With a ``key`` every word that a person
    wrote is told in pseudonyms; without one words stay as they are."""

    def __init__(self, *, secrets: Sequence[str] = (), key: bytes | None = None) -> None:
        # The longest first, so that none is left over in pieces because it begins with another one.
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
        self._key = key

    async def cleaned(self, turn: RecordedTurn, prompts: Sequence[Sequence[Prompt]]) -> RecordedTurn:
        """The turn as it may be kept. What is hidden is hidden where it came in, and the rest is made anew from that by
        running the turn again with the same answers; so it can be replayed. ``prompts`` are the requests of each run.
        """
        if self._key is None and not self._has_secret(turn):
            return turn
        hide = self._hide()
        told = zip(turn.runs, prompts, strict=True)
        runs = [await rerun(hidden_run(run, [prompt.schema for prompt in asked], hide)) for run, asked in told]
        changes = {
            "titles": "kept" if self._key is None else "redacted",
            "alike": alike(turn.runs, runs),
            "runs": tuple(runs),
        }
        return turn.model_copy(update=changes)

    def scrubbed(self, document: str) -> str:
        """The last look at what is about to be written: no secret of a length that could be one stays in it."""
        for secret in self._secrets:
            if len(secret) >= SHORTEST:
                document = document.replace(json.dumps(secret, ensure_ascii=False)[1:-1], SECRET)
        return document

    def _has_secret(self, turn: RecordedTurn) -> bool:
        text = turn.model_dump_json()
        return any(secret in text for secret in self._secrets)

    def _hide(self) -> Hide:
        if self._key is not None:
            return Pseudonyms(self._key).text  # which leaves nothing of a secret either
        return self._without_secrets

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        return text

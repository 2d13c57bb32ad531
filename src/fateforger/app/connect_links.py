"""Links to the connect page, and what the page keeps in a person's browser: encrypted, for a limited time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.adapters.store.vault import SecretUnreadable, Vault
from fateforger.calendar.connections import Connection, Provider
from fateforger.ports.clock import Clock

PATH = "/connect"
VALID = timedelta(minutes=30)
"""Time for which a link works."""


@dataclass(frozen=True, slots=True)
class ConnectLinks:
    """Links to the page, each for one person and for a limited time. They are encrypted, and not stored."""

    vault: Vault
    base_url: str
    clock: Clock

    def build(self, user_id: str) -> str:
        """Return a link for a person."""
        until = (self.clock.now() + VALID).timestamp()
        return f"{self.base_url}{PATH}/{self.vault.encrypt(json.dumps({'connects': user_id, 'until': until}))}"

    def read(self, token: str) -> str | None:
        """Return the person of a link; ``None`` if it is too old or was not made here."""
        found = self._open(token)
        return None if found is None or self._is_over(found[1]) else found[0]

    def read_old(self, token: str) -> str | None:
        """Return the person of a link of any age; an old one gives a right only to a new one in Slack."""
        found = self._open(token)
        return None if found is None else found[0]

    def seal(self, wanted: Connection) -> str:
        """Return a connection that is not kept yet, for the form in which its person chooses calendars."""
        until = (self.clock.now() + VALID).timestamp()
        fields = {"provider": wanted.provider.value, "account": wanted.account, "address": wanted.address}
        return self.vault.encrypt(
            json.dumps({"chooses": wanted.user_id, "until": until, "secret": wanted.secret, **fields})
        )

    def unseal(self, sealed: str, user_id: str) -> Connection | None:
        """Return a person's sealed connection; ``None`` if it is too old, of somebody else, or was not made here."""
        found = self._decrypt(sealed)
        try:
            if found["chooses"] != user_id or self._is_over(float(found["until"])):
                return None
            return Connection(
                user_id=user_id,
                provider=Provider(found["provider"]),
                account=found["account"],
                calendar_id="",
                connected_at=self.clock.now(),
                address=found["address"],
                secret=found["secret"],
            )
        except (KeyError, ValueError):
            return None

    def _open(self, token: str) -> tuple[str, float] | None:
        found = self._decrypt(token)
        try:
            return str(found["connects"]), float(found["until"])
        except (KeyError, ValueError):
            return None

    def _decrypt(self, token: str) -> Mapping[str, str]:
        """Return the decrypted fields; empty if they were not encrypted here."""
        try:
            found = json.loads(self.vault.decrypt(token))
        except (SecretUnreadable, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _is_over(self, until: float) -> bool:
        return datetime.fromtimestamp(until, self.clock.now().tzinfo) < self.clock.now()

"""Encryption of the secrets that people entrust to the program."""

from __future__ import annotations

import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from fateforger.errors import BadInput

HOW = (
    "FATEFORGER_SECRET_KEYS holds Fernet keys with commas between, the newest first. Make one with:"
    ' python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'
)


class SecretUnreadable(Exception):
    """A secret was encrypted with a key that is not among those given."""


class Vault:
    """Encrypts with the first key and decrypts with any, so that keys can be rotated.

    Without keys nothing can be encrypted, and what was is unreadable, as when a key is lost.
    """

    def __init__(self, keys: str | None) -> None:
        """Read Fernet keys with commas between. Raises :class:`BadInput`."""
        self._fernet: MultiFernet | None = None
        self._newest: Fernet | None = None
        self.fingerprints: tuple[str, ...] = ()
        """A name for each key, the newest first, from which the key cannot be told."""
        if keys is None:
            return
        given = [key.strip() for key in keys.split(",") if key.strip()]
        try:
            fernets = [Fernet(key) for key in given]
        except ValueError:
            raise BadInput(f"A key for secrets is not one. {HOW}", where="secret_keys") from None
        if not fernets:
            raise BadInput(f"There is no key for secrets. {HOW}", where="secret_keys")
        self._fernet, self._newest = MultiFernet(fernets), fernets[0]
        self.fingerprints = tuple(hashlib.sha256(key.encode()).hexdigest()[:16] for key in given)

    @property
    def has_keys(self) -> bool:
        """Check whether anything can be encrypted."""
        return self._fernet is not None

    def encrypt(self, secret: str) -> str:
        """Return the secret in encrypted form, which also hides when it was not changed. Raises :class:`BadInput`."""
        if self._fernet is None:
            raise BadInput(f"There is no key for secrets. {HOW}", where="secret_keys")
        return self._fernet.encrypt(secret.encode()).decode()

    def renew(self, encrypted: str) -> str | None:
        """Return the secret encrypted with the newest key; ``None`` if it is already.

        Raises :class:`SecretUnreadable`.
        """
        if self._newest is None or self._fernet is None:
            raise SecretUnreadable
        try:
            self._newest.decrypt(encrypted.encode())
        except InvalidToken:
            try:
                return self._fernet.rotate(encrypted.encode()).decode()
            except InvalidToken:
                raise SecretUnreadable from None
        return None

    def decrypt(self, encrypted: str) -> str:
        """Return the secret. Raises :class:`SecretUnreadable`."""
        if self._fernet is None:
            raise SecretUnreadable
        try:
            return self._fernet.decrypt(encrypted.encode()).decode()
        except InvalidToken:
            raise SecretUnreadable from None


def new_key() -> str:
    return Fernet.generate_key().decode()


def hash_secret(secret: str) -> str:
    """Return a digest of a secret, which is random and long enough not to be guessed from it."""
    return hashlib.sha256(secret.encode()).hexdigest()

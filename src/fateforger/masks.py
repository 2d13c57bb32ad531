"""Masks for the secrets in addresses and in texts.

Every address that is shown goes through :func:`mask_address`. As a second line of defense, whatever leaves the program
for an operator (log lines, output of commands, spans, recordings) goes through :func:`hide_secrets`, because a library
may quote a secret in an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote, quote_plus, unquote, unquote_plus

MASK = "•••"

_HARMLESS = frozenset(
    {
        *("user", "username", "host", "hostaddr", "port", "dbname", "database", "application_name", "options"),
        *("sslmode", "channel_binding", "connect_timeout", "target_session_attrs", "gssencmode", "krbsrvname"),
        *("api-version", "version", "v", "region", "tenant", "account", "calendar", "format", "timeout", "mode"),
    }
)
"""Names of query parameters whose values are shown. The values of all others are taken for secrets."""
_SECRET_NAME = re.compile(r"token|secret|passw|pwd|key|auth|credential|bearer", re.IGNORECASE)
_TOKEN = re.compile(r"(?=(?:.*?(?:[A-Za-z]\d|\d[A-Za-z])){3})[\w~=+-]{20,256}", re.ASCII)
"""A word that reads like a token: long, letters and digits mixed. Some services put theirs in the path."""
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_PORT = re.compile(r"[^:@/?#]*(:\d{0,5})?(?=[/?#]|$)|\[[^\]]*\](:\d{0,5})?(?=[/?#]|$)")
"""A host that no user info precedes."""

_FILES = frozenset({"", "file://", "sqlite://", "sqlite+pysqlite://"})
"""Schemes of files, whose paths hold no tokens."""

_Piece = tuple[str, bool]
"""A part of an address, and whether it is secret."""


def mask_address(address: str) -> str:
    """Return an address, or the command line of a server, with a mask instead of each secret part."""
    return "".join(MASK if secret and text else text for text, secret in _split_address(address))


def find_secrets(address: str) -> tuple[str, ...]:
    """Return the secret parts of an address or a command line: as written there, and decoded."""
    found = (text for text, secret in _split_address(address) if secret and text)
    return tuple(dict.fromkeys(form for text in found for form in (text, unquote(text), unquote_plus(text))))


def strip_address(address: str) -> str:
    """Return scheme, host and path of an address, which name a server in keys and logs."""
    shown = _ADDRESS.fullmatch(address.strip())
    if shown is None:
        return re.split("[?#]", address.strip(), maxsplit=1)[0]
    _, rest = _split_user(shown["rest"])
    return shown["scheme"].lower() + re.split("[?#]", rest, maxsplit=1)[0]


def _split_address(text: str) -> list[_Piece]:
    if " " in text.strip() and "://" not in text.strip().split(" ", 1)[0]:
        return list(_split_command(text))
    found = _ADDRESS.fullmatch(text)
    scheme, rest = ("", text) if found is None else (found["scheme"], found["rest"])
    user, rest = ("", rest) if found is None else _split_user(rest)
    place, mark, query = _cut(rest, "?#")
    host, slash, path = _cut(place, "/")
    return [
        (scheme, False),
        *_split_login(user),
        (f"{host}{slash}", False),
        *([(path, False)] if scheme.lower() in _FILES else _split_path(path)),
        (mark, False),
        *_split_query(query, fragment=mark == "#"),
    ]


def _split_user(rest: str) -> tuple[str, str]:
    """Return the user info with its ``@``, and what follows. A password may hold any character, even unescaped."""
    if _PORT.match(rest) or "@" not in rest:
        return "", rest
    before, at, after = rest.partition("@") if "@" in re.split("[/?#]", rest, maxsplit=1)[0] else rest.rpartition("@")
    while at and "@" in re.split("[/?#]", after, maxsplit=1)[0]:
        more, again, after = after.partition("@")
        before += f"@{more}"
        at = again
    return f"{before}@", after


def _split_login(user: str) -> Iterator[_Piece]:
    if not user:
        return
    name, colon, password = user.removesuffix("@").partition(":")
    # A name without a password is often a token.
    yield name, _TOKEN.fullmatch(name) is not None
    yield colon, False
    yield password, True
    yield "@", False


def _split_path(path: str) -> Iterator[_Piece]:
    for part in re.split("(/)", path):
        yield part, _TOKEN.fullmatch(part) is not None


def _split_query(query: str, *, fragment: bool) -> Iterator[_Piece]:
    for part in re.split("([&;#?])", query):
        name, sign, value = part.partition("=")
        if sign:
            yield f"{name}=", False
            yield value, unquote(name).lower() not in _HARMLESS
        else:
            yield part, fragment or part not in "&;#?"


def _split_command(line: str) -> Iterator[_Piece]:
    follows = False
    for word in re.split(r"(\s+)", line):
        name, sign, value = word.partition("=")
        if sign and not word.isspace():
            yield f"{name}=", False
            yield value, _SECRET_NAME.search(name) is not None or _TOKEN.fullmatch(value) is not None
            follows = False
        elif word.isspace() or not word:
            yield word, False
        else:
            yield word, (follows and not word.startswith("-")) or _TOKEN.fullmatch(word) is not None
            follows = word.startswith("-") and _SECRET_NAME.search(word) is not None


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    found = re.search(f"[{marks}]", text)
    return (text, "", "") if found is None else (text[: found.start()], found[0], text[found.end() :])


_LEAST_PART = 16
"""Length from which a text within a JSON key is taken for a secret, if its name is not known to be harmless."""
_SHOWN_PARTS = frozenset({"type", "project_id", "client_email", "client_id", "universe_domain"})


def split_secret(secret: str) -> Iterator[str]:
    """Yield a secret and its parts: keys separated by commas, or the fields of a key in JSON."""
    yield secret
    if secret.lstrip().startswith("{"):
        with suppress(ValueError):
            for name, part in json.loads(secret).items():
                shown = name in _SHOWN_PARTS or name.endswith(("_uri", "_url"))
                if isinstance(part, str) and len(part) >= _LEAST_PART and not shown:
                    yield part
    elif "," in secret:
        yield from filter(None, map(str.strip, secret.split(",")))


_ADDRESS_VARIABLE = re.compile(r"(https?|all)_proxy|OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT", re.IGNORECASE)
_HEADER_VARIABLE = re.compile(r"OTEL_EXPORTER_OTLP_(\w+_)?HEADERS")


def find_secrets_of_libraries(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets in variables that libraries read by themselves: of proxies, of traces, of PostgreSQL."""
    for name, value in environment.items():
        if name == "PGPASSWORD":
            yield value
        elif _ADDRESS_VARIABLE.fullmatch(name):
            yield from find_secrets(value)
        elif _HEADER_VARIABLE.fullmatch(name):
            for header in value.split(","):
                secret = unquote(header.partition("=")[2]).strip()
                yield from (secret, secret.rpartition(" ")[2])  # also without the word Bearer


SHORTEST = 8
"""Length from which a secret is hidden wherever it occurs. A shorter one is hidden as a word of its own."""
_TOO_SHORT = 4
"""Secrets of fewer characters are not looked for: they occur in ordinary words."""


class Scrubber:
    """Masks known secrets in texts, in each spelling in which they may occur."""

    def __init__(self, secrets: Iterable[str], *, mask: str = MASK) -> None:
        spellings = {spelling for secret in secrets for spelling in _spell(secret) if len(spelling) >= _TOO_SHORT}
        # The longest first: a secret that begins with another one would otherwise leave a fragment.
        parts = [_bound(each) for each in sorted(spellings, key=lambda each: (-len(each), each))]
        self._pattern = re.compile("|".join(parts)) if parts else None
        self._mask = mask

    def scrub(self, text: str) -> str:
        """Return the text with a mask instead of each secret."""
        return text if self._pattern is None else self._pattern.sub(lambda _: self._mask, text)


def _spell(secret: str) -> set[str]:
    secret = secret.strip()
    quoted = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    return {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), *quoted}


def _bound(secret: str) -> str:
    pattern = re.escape(secret)
    return pattern if len(secret) >= SHORTEST else rf"(?<!\w){pattern}(?!\w)"


_protected = Scrubber(())


def protect(secrets: Iterable[str]) -> None:
    """Set the secrets that :func:`hide_secrets` masks in this process, instead of earlier ones.

    Those shorter than :data:`SHORTEST` are left out: they may be ordinary words, and an export with a mask in place of
    somebody's word could not be imported as it was. Addresses and settings mask them by themselves.
    """
    global _protected  # noqa: PLW0603  log lines are written in every thread, also in those that libraries start
    _protected = Scrubber(secret for secret in secrets if len(secret) >= SHORTEST)


def hide_secrets(text: str) -> str:
    """Return the text with a mask instead of each secret of this process."""
    return _protected.scrub(text)

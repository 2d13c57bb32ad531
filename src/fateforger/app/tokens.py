"""Secrets that open the local page and the embedded calendar only to the person who runs the program.

Each is made once for a data directory and kept there, in a file that only its owner can read.
"""

from __future__ import annotations

import secrets
from ipaddress import ip_address
from urllib.parse import urlencode

from fateforger.app.data_dir import read_or_create
from fateforger.config import Settings
from fateforger.errors import BadInput

PAGE_FILE, CALDAV_FILE = "page.token", "caldav.password"
"""Names of the files in the data directory."""
CALDAV_USER = "me"
PARAMETER = "token"
"""Name of the token in the address of the page."""
_SHORTEST = 16
"""Characters: fewer could be guessed by trying."""
EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  compared, not bound
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def read_page_token(settings: Settings) -> str:
    """Return the token that opens the page: the configured one, or that of the data directory.

    Raises ``BadInput`` for a file without one, and ``StoreUnavailable``.
    """
    return settings.page_token.get_secret_value() if settings.page_token else _read(settings, PAGE_FILE)


def read_caldav_password(settings: Settings) -> str:
    """Return the password of the embedded calendar. Raises ``BadInput`` and ``StoreUnavailable``."""
    return _read(settings, CALDAV_FILE)


def _read(settings: Settings, name: str) -> str:
    path = settings.data_dir / name
    secret = read_or_create(path, lambda: secrets.token_urlsafe(24))
    if len(secret) < _SHORTEST:
        raise BadInput(
            f"{path} contains no usable secret. Delete it; the next start makes a new one.", where="data_dir"
        )
    return secret


def build_address(url: str, token: str, path: str = "/") -> str:
    """Return the address that opens a page; the server replaces the token with a cookie."""
    return f"{url}{path}?{urlencode({PARAMETER: token})}"


def find_page(settings: Settings) -> str:
    """Return the address of the configured host and port, as a program on this machine reaches it."""
    host = "127.0.0.1" if settings.host in EVERY_ADDRESS else settings.host
    return f"http://{host}:{settings.port}"


def describe_caldav(url: str, password: str) -> str:
    """Return the address and the login with which a calendar app opens the embedded calendar."""
    return f"{url} (user name {CALDAV_USER}, password {password})"


def describe_exposure(settings: Settings) -> str | None:
    """Return a warning if the local page listens where other machines can reach it."""
    if settings.real_slack or _is_loopback(settings.host):
        return None
    return (
        f"The page listens on {settings.host}, so other machines may reach it. Anyone who has its address can read"
        " and change your plans and your calendar, and the address travels unencrypted. If you do not want that, set"
        " FATEFORGER_HOST=127.0.0.1; in a container, publish the port to your own machine only"
        " (-p 127.0.0.1:8765:8765), or use Slack (SLACK_BOT_TOKEN and SLACK_APP_TOKEN)."
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK

"""The data directory and its secrets: private, and held by one program at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlencode

from fateforger.config import Settings
from fateforger.errors import BadInput, StoreUnavailable

try:
    import fcntl
except ModuleNotFoundError:  # pragma: no cover - Windows has no fcntl; SQLite's own locks still keep the data whole
    fcntl = None  # type: ignore[assignment]  # checked where it is used


PROGRAM_LOCK, COMMAND_LOCK = "running.lock", "command.lock"
_OWN_FILES = frozenset({PROGRAM_LOCK, COMMAND_LOCK, "fateforger.db"})
"""Each data directory holds at least one of them."""
_OTHERS = 0o077


@contextlib.contextmanager
def lock_data_dir(data_dir: Path, lock: str = PROGRAM_LOCK) -> Iterator[None]:
    """Hold a lock in the data directory for this process. The system releases it even after ``kill -9``.

    A command waits until another command ends. Raises :class:`BadInput` if another program holds the directory, and
    like :func:`make_private`.
    """
    make_private(data_dir)
    try:
        handle = os.open(data_dir / lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"I cannot use the data directory {data_dir}: {error.strerror}.") from None
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (fcntl.LOCK_NB if lock == PROGRAM_LOCK else 0))
            except OSError:
                raise BadInput(
                    f"Another fateforger is running on {data_dir}. Stop it first, or give this one a directory of"
                    " its own with --data-dir.",
                    where="data_dir",
                ) from None
        yield
    finally:
        os.close(handle)


def make_private(data_dir: Path) -> None:
    """Create the data directory, or close an existing one that others can read.

    Raises :class:`BadInput` for a directory that may not be fateforger's own, which is left unchanged, and
    ``StoreUnavailable`` if the directory cannot be used.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if fcntl is None or not data_dir.stat().st_mode & _OTHERS:
            return
        if not _is_ours(data_dir):
            raise BadInput(
                f"Others can read the data directory {data_dir}, and it may not be fateforger's own, so I leave it"
                " alone. Choose an empty directory with --data-dir or FATEFORGER_DATA_DIR. If everything in this one is"
                f" yours, run: chmod 700 {data_dir}",
                where="data_dir",
            )
        data_dir.chmod(0o700)
    except OSError as error:
        raise StoreUnavailable(
            f"I cannot use the data directory {data_dir}: {error.strerror}.", where="data_dir"
        ) from None


def _is_ours(data_dir: Path) -> bool:
    """Check that a directory and all in it belong to this user, and that it is empty or a data directory already."""
    about, me = data_dir.stat(), os.geteuid()
    if about.st_uid != me or about.st_mode & stat.S_ISVTX:
        return False
    with os.scandir(data_dir) as found:
        owners = {entry.name: entry.stat(follow_symlinks=False).st_uid for entry in found}
    return not owners or (set(owners.values()) == {me} and not _OWN_FILES.isdisjoint(owners))


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the line in a file that only its owner can read; create the file atomically if it is missing.

    Raises ``StoreUnavailable``.
    """
    try:
        if not path.exists():
            make_private(path.parent)
            draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            draft.touch(mode=0o600)
            draft.write_text(make())
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
            draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise StoreUnavailable(f"I cannot use {path}: {error.strerror}.", where="data_dir") from None


ADDRESSES = "addresses"
"""Name of the file in the data directory with the addresses of the running program."""


@contextlib.contextmanager
def note_addresses(data_dir: Path, page: str, calendar: str | None) -> Iterator[None]:
    """Keep the addresses of the page and of the embedded calendar in a file for other commands, until the block ends.

    After ``kill -9`` the file stays until the next start. Raises ``StoreUnavailable``.
    """
    path = data_dir / ADDRESSES
    path.unlink(missing_ok=True)
    read_or_create(path, lambda: f"{page}\n{calendar or ''}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def read_addresses(data_dir: Path) -> tuple[str | None, str | None]:
    """Return the addresses of the running program's page and embedded calendar; ``None`` for an unknown one.

    Raises ``StoreUnavailable``.
    """
    try:
        lines = (data_dir / ADDRESSES).read_text().splitlines()
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise StoreUnavailable(f"I cannot use {data_dir / ADDRESSES}: {error.strerror}.", where="data_dir") from None
    page, calendar, *_ = (*lines, "", "")
    return page or None, calendar or None


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

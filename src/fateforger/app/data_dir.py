"""The data directory: private, held by one program at a time, with secrets in files that only their owner can read."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

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
"""Name of the file in the data directory that says where the program listens while it runs."""


@contextlib.contextmanager
def note_addresses(data_dir: Path, page: str, calendar: str | None) -> Iterator[None]:
    """Note for other commands where the page and the embedded calendar are, until the block ends.

    After ``kill -9`` the note stays until the next start. Raises ``StoreUnavailable``.
    """
    path = data_dir / ADDRESSES
    path.unlink(missing_ok=True)
    read_or_create(path, lambda: f"{page}\n{calendar or ''}\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def read_addresses(data_dir: Path) -> tuple[str | None, str | None]:
    """Return where the program that runs has its page and its embedded calendar; ``None`` where that is not known.

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

"""Lock the data directory, so that one program and one writing command run at a time, and name the replica."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from fateforger.errors import BadInput, StoreUnavailable

try:
    import fcntl
except ModuleNotFoundError:  # pragma: no cover - Windows has no fcntl; SQLite's own locks still keep the data whole
    fcntl = None  # type: ignore[assignment]  # checked where it is used


PROGRAM_LOCK, COMMAND_LOCK = "running.lock", "command.lock"


@contextlib.contextmanager
def lock_data_dir(data_dir: Path, lock: str = PROGRAM_LOCK) -> Iterator[None]:
    """Hold a lock in the data directory for this process. The system releases it even after ``kill -9``.

    A command waits until another command ends. Raises :class:`BadInput` if another program holds the directory, and
    ``StoreUnavailable`` if the directory cannot be used.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        data_dir.chmod(0o700)
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


def read_replica_name(data_dir: Path) -> str:
    """Return the name of this data directory's program among all programs on one database.

    The name is unique and stays the same after a restart, also on another machine. So a program resumes at once what it
    held when it died, and cannot touch what others hold. Raises ``StoreUnavailable``.
    """
    return read_or_create(data_dir / "replica", lambda: f"replica-{secrets.token_hex(6)}")


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the line in a file that only its owner can read; create the file atomically if it is missing.

    Raises ``StoreUnavailable``.
    """
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            draft.touch(mode=0o600)
            draft.write_text(make())
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
            draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise StoreUnavailable(f"I cannot use {path}: {error.strerror}.", where="data_dir") from None

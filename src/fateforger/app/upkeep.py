"""Upkeep of a deployment for ``fateforger admin``: findings, cleaning, backup into one file, and restoring it.

The database is copied first, then what is only in the data directory: the local page, the embedded calendar and the
search index. So a write that was recorded as done is in every copy. Keys are never copied: the backup names them by
their fingerprints, and restoring checks that the new place has them.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger import __version__
from fateforger.adapters.clock import SystemClock
from fateforger.adapters.memory.vectors import Embedded, Pgvector
from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.connections import REMEDY, Vault
from fateforger.adapters.store.copies import (
    copy_sqlite_file,
    dump_postgres,
    is_sqlite_file,
    read_contents,
    read_server_version,
    restore_postgres,
)
from fateforger.adapters.store.database import HEAD_REVISION
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.upkeep import SqlGivenUp, check_tables, find_unreadable_logins
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.memory import check_memory, read_place
from fateforger.app.resources import KEY_FILE, Check, open_state
from fateforger.config import Settings
from fateforger.errors import BadInput, StoreUnavailable
from fateforger.text import capitalize, format_count, join_words

STATE, DUMP, _MANIFEST = "fateforger.db", "fateforger.dump", "manifest.json"
_FORMAT = 1
_PARTS = {
    "workspace.db": "the local page",
    "calendar": "the embedded calendar",
    "calendars": "what is kept about connected calendars",
    "memory/qdrant": "the search index",
    "memory/mem0": "the search index",
    "replica": "the name of this program",
}
"""Files and folders of the data directory, in addition to the database, with their names for people."""
_LOGS = ("-wal", "-shm", "-journal")
"""Ends of the names of an SQLite file's logs. After a crash they hold the latest writes."""
_PASSING = (".lock", *_LOGS)
"""Ends of the names of files that are not copied; a copied database needs no log."""
_BLOCK = 1 << 20
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)
"""Errors of reading an archive that is cut off or changed."""

IndexPlace = Literal["embedded", "database", "elsewhere"]


class Manifest(BaseModel):
    """The content of a backup. ``keys`` are the fingerprints of the keys that encrypt its ``logins``."""

    model_config = ConfigDict(frozen=True)

    format: int = _FORMAT
    made_at: datetime
    version: str = __version__
    revision: str = HEAD_REVISION
    server: int | None
    """The major version of PostgreSQL; ``None`` for SQLite."""
    index: IndexPlace
    keys: tuple[str, ...]
    logins: int
    files: dict[str, str]
    """The SHA-256 of each file by its path."""

    @property
    def database(self) -> str:
        """The name of the file that holds the database."""
        return STATE if self.server is None else DUMP

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what it holds, for a sentence."""
        found = [name for part, name in _PARTS.items() if any(_is_below(file, part) for file in self.files)]
        return ("the database", *dict.fromkeys(found))


def _is_below(name: str, part: str) -> bool:
    return PurePosixPath(part) in (PurePosixPath(name), *PurePosixPath(name).parents)


def find_vault(settings: Settings) -> Vault:
    """Return the keys of logins that there are; unlike for a start, none is made. Raises ``BadInput``."""
    if settings.secret_keys is not None:
        return Vault(settings.secret_keys.get_secret_value())
    file = settings.data_dir / KEY_FILE
    return Vault(file.read_text().strip() if settings.database_url is None and file.exists() else None)


async def make_backup(settings: Settings, target: Path, *, now: datetime) -> Manifest:
    """Write a backup into a new file that its owner alone can read. Programs may run meanwhile.

    Raises ``BadInput`` and ``StoreUnavailable``.
    """
    _check_ends(settings, target)
    # The database is not opened as usual, which would migrate it: then the older version could not go back to it.
    revision, logins = await asyncio.to_thread(read_contents, settings.database_url or settings.data_dir / STATE)
    if revision is None:
        raise BadInput("There is nothing to back up in the database.", where="database_url")
    if revision > HEAD_REVISION:
        raise BadInput(
            "The database was written by a newer fateforger. Make the backup with that version.", where="database_url"
        )
    return await asyncio.to_thread(_write_archive, settings, target, now, revision, logins)


def _check_ends(settings: Settings, target: Path) -> None:
    if target.exists():
        raise BadInput(f"There is already a file {target}. Name another one.", where="file")
    if not target.parent.is_dir():
        raise BadInput(f"There is no folder {target.parent} to put the backup into.", where="file")
    if settings.database_url is None and not (settings.data_dir / STATE).exists():
        raise BadInput(f"There is nothing to back up in {settings.data_dir}.", where="data_dir")


def _write_archive(settings: Settings, target: Path, now: datetime, revision: str, logins: int) -> Manifest:
    server = None if settings.database_url is None else read_server_version(settings.database_url)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
            folder = Path(name)
            _copy_parts(settings, folder)
            manifest = Manifest(
                made_at=now,
                revision=revision,
                server=server,
                index=_find_index(settings),
                keys=find_vault(settings).fingerprints,
                logins=logins,
                files={str(path.relative_to(folder).as_posix()): _hash(path) for path in _iter_files(folder)},
            )
            (folder / _MANIFEST).write_text(manifest.model_dump_json(indent=2))
            draft = folder / "archive"
            draft.touch(mode=0o600)
            with tarfile.open(draft, "w:gz", compresslevel=6) as archive:
                for file in (_MANIFEST, *manifest.files):
                    archive.add(folder / file, file)
            draft.replace(target)
    except OSError as error:
        raise StoreUnavailable(f"The backup cannot be written: {error.strerror or error}.", where="file") from None
    return manifest


def _copy_parts(settings: Settings, folder: Path) -> None:
    if settings.database_url is None:
        copy_sqlite_file(settings.data_dir / STATE, folder / STATE)
    else:
        dump_postgres(settings.database_url, folder / DUMP)
    for part in _PARTS:
        origin = settings.data_dir / part
        for source in [origin] if origin.is_file() else list(_iter_files(origin)):
            copy = folder / source.relative_to(settings.data_dir)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(source, copy)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file, unless it is gone by now: a program that runs may have replaced it by another one."""
    try:
        if is_sqlite_file(source):
            copy_sqlite_file(source, target)
        else:
            shutil.copyfile(source, target)
    except FileNotFoundError:
        target.unlink(missing_ok=True)


def _iter_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.endswith(_PASSING):
            yield path


def _find_index(settings: Settings) -> IndexPlace:
    match read_place(settings):
        case Embedded():
            return "embedded"
        case Pgvector(url) if url == settings.database_url:
            return "database"
        case _:
            return "elsewhere"


def read_manifest(source: Path) -> Manifest:
    """Read the description of a backup. Raises ``BadInput`` for a file that is none, or of a newer version."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            first = archive.next()
            content = None if first is None or first.name != _MANIFEST else archive.extractfile(first)
            manifest = None if content is None else Manifest.model_validate_json(content.read())
    except (*_DAMAGE, ValidationError):
        manifest = None
    except OSError as error:
        raise BadInput(f"I cannot read {source}: {error.strerror or error}.", where="file") from None
    if manifest is None:
        raise BadInput(f"{source} is not a backup of fateforger.", where="file")
    if manifest.format > _FORMAT or manifest.revision > HEAD_REVISION:
        raise BadInput(
            f"{source} was made by a newer fateforger ({manifest.version}). Install that version first.", where="file"
        )
    return manifest


async def restore_backup(settings: Settings, source: Path, *, without_logins: bool = False) -> tuple[Manifest, int]:
    """Restore a backup where nothing is yet; return what it holds, and how many people have to connect again.

    Raises ``BadInput`` for a place that is not empty or does not fit, and ``StoreUnavailable``; then nothing is in its
    place, except that PostgreSQL may be filled if the disk of the data directory fails after that.
    """
    manifest = read_manifest(source)
    _check_kind(settings, manifest)
    with lock_data_dir(settings.data_dir):
        _check_empty(settings)
        vault = find_vault(settings)
        if manifest.logins and not without_logins:
            _check_keys(manifest, vault)
        await asyncio.to_thread(_put_in_place, settings, source, manifest)
        async with aclosing(await open_state(settings)) as store:
            damage = await check_tables(store.database)
            if damage:
                raise StoreUnavailable(f"The restored database is damaged: {'; '.join(damage)}.")
            if manifest.index == "elsewhere" or manifest.index != _find_index(settings):
                await store.constraints.reindex(None)  # the next start fills the index
            return manifest, len(await find_unreadable_logins(store.database, vault))


def _check_kind(settings: Settings, manifest: Manifest) -> None:
    if manifest.server is not None and settings.database_url is None:
        raise BadInput(
            "This backup is of PostgreSQL. Name an empty database in FATEFORGER_DATABASE_URL.", where="database_url"
        )
    if manifest.server is None and settings.database_url is not None:
        raise BadInput(
            "This backup is of an SQLite file. Leave FATEFORGER_DATABASE_URL out to restore it.", where="database_url"
        )


def _check_empty(settings: Settings) -> None:
    # SQLite would write a log that was left behind into the restored file.
    names = [f"{part}{end}" for part in (STATE, *_PARTS) for end in ("", *_LOGS)]
    there = [name for name in names if (settings.data_dir / name).exists()]
    if there:
        raise BadInput(
            f"There is data in {settings.data_dir} already: {join_words(there)}. Restore into a new place: name one"
            " with --data-dir, or move this away.",
            where="data_dir",
        )


def _check_keys(manifest: Manifest, vault: Vault) -> None:
    missing = [key for key in manifest.keys if key not in vault.fingerprints]
    if missing:
        raise BadInput(
            f"This backup holds {format_count(manifest.logins, 'login')}, encrypted with a key that is not here"
            f" (fingerprint {join_words(missing)}). Put that key into FATEFORGER_SECRET_KEYS, or the file"
            f" {KEY_FILE} into the new data directory. With --without-logins, these people have to connect their"
            " calendars again.",
            where="secret_keys",
        )


def _put_in_place(settings: Settings, source: Path, manifest: Manifest) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix=".restore.", dir=settings.data_dir) as name:
            folder = Path(name)
            _extract(source, manifest, folder)
            if settings.database_url is not None:
                restore_postgres(settings.database_url, folder / DUMP, version=manifest.server or 0)
            # A SQLite file comes last: without it, nothing of an interrupted restore is used.
            for part in (*_PARTS, STATE):
                if (folder / part).exists():
                    (settings.data_dir / part).parent.mkdir(parents=True, exist_ok=True)
                    (folder / part).replace(settings.data_dir / part)
    except OSError as error:
        raise StoreUnavailable(f"The backup cannot be restored: {error.strerror or error}.", where="file") from None


def _extract(source: Path, manifest: Manifest, folder: Path) -> None:
    """Take out exactly the files that the manifest names, and compare each with its hash. Raises ``BadInput``."""
    found: set[str] = set()
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in archive:
                if member.name in manifest.files and member.isfile():
                    archive.extract(member, folder, filter="data")
                    found.add(member.name)
    except _DAMAGE as error:
        raise BadInput(f"{source} is damaged: {error}. Take another backup.", where="file") from None
    expected = {manifest.database: "", **manifest.files}
    damaged = [name for name, known in expected.items() if name not in found or _hash(folder / name) != known]
    if damaged:
        raise BadInput(f"{source} is damaged: {join_words(damaged[:5])}. Take another backup.", where="file")
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


MOST = 1000
"""The most that one question to the database answers."""


async def run_data_checks(settings: Settings, store: Store) -> tuple[Check, ...]:
    """Check the tables, the logins, the index, and what was given up. Nothing is changed."""
    return (
        await _check_tables(store),
        await _check_logins(settings, store),
        await check_memory(settings),
        await _check_given_up(store),
    )


async def _check_tables(store: Store) -> Check:
    damage = await check_tables(store.database)
    if damage:
        fix = "Restore the latest backup into a new place: fateforger admin restore FILE --data-dir DIR"
        return Check("tables", "broken", f"{join_words(damage)}.", fix)
    return Check("tables", "real", "All tables are whole.")


async def _check_logins(settings: Settings, store: Store) -> Check:
    lost = await find_unreadable_logins(store.database, find_vault(settings))
    if lost:
        return Check(
            "logins", "broken", f"No key can decrypt the logins of {join_words(lost, 10)}.", f"{capitalize(REMEDY)}."
        )
    return Check("logins", "real", "Every login that is kept can be read.")


async def _check_given_up(store: Store) -> Check:
    given_up = SqlGivenUp(store.database)
    jobs, messages = len(await given_up.list_jobs(limit=MOST)), len(await given_up.list_messages(limit=MOST))
    if not jobs and not messages:
        return Check("given up", "real", "No job and no message was given up.")
    words = f"{format_count(jobs, 'job')} and {format_count(messages, 'message')} were given up."
    return Check("given up", "missing", words, "See why: fateforger admin jobs list, fateforger admin messages list")


@dataclass(frozen=True, slots=True)
class Pruned:
    """Numbers of what was deleted because it was old: jobs and messages that were given up."""

    jobs: int
    messages: int


async def prune(settings: Settings, store: Store, *, now: datetime) -> int:
    """Delete rows and recordings that are past their time; return their number.

    Raises ``StoreError``.
    """
    count = await store.retention.prune(now=now, operator_log=timedelta(days=settings.keep_operator_log))
    if settings.keep_sessions is not None:
        count += await store.retention.prune_sessions(before=now - timedelta(days=settings.keep_sessions))
    if settings.record is not None and settings.keep_recordings is not None:
        # The times of files come from the machine's clock, which may differ from the program's.
        before = SystemClock().now() - timedelta(days=settings.keep_recordings)
        count += await RecordingFiles(settings.record).prune(before=before)
    return count


async def maintain(settings: Settings, store: Store, *, now: datetime, days: int, vacuum: bool) -> Pruned:
    """Delete what is no longer needed, and what was given up more than ``days`` ago; give space back to the disk.

    Raises ``StoreUnavailable``.
    """
    jobs, messages = await SqlGivenUp(store.database).prune(before=now - timedelta(days=days))
    await prune(settings, store, now=now)
    if vacuum:
        await store.database.vacuum()
    await store.database.scrub()
    return Pruned(jobs, messages)

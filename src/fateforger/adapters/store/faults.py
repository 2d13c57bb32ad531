"""Translate database errors into one sentence for a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError, StatementError

from fateforger.errors import InternalError, StoreUnavailable

_SQLITE = {
    sqlite3.SQLITE_FULL: "there is no space left for it; free some disk space and try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; try again in a moment",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; try again in a moment",
    sqlite3.SQLITE_READONLY: "it cannot be written to; check the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "access to it is denied; check the permissions of the file and its folder",
    sqlite3.SQLITE_AUTH: "access to it is denied; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the folder exists and can be written to",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put a backup in its place, or move it away to start afresh",
    sqlite3.SQLITE_NOTADB: "the file is not a database; name another file, or move this one away to start afresh",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check that it has space left and works",
}

IN_EACH_OTHERS_WAY = frozenset({"40001", "40P01", "23505"})
"""PostgreSQL's codes for two transactions that conflict (serialization failure, deadlock, a row that the other one
inserted first). A new try sees what the other one did."""

_ACCESS_DENIED = "42501"


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Raise our error for a database error.

    Raises ``StoreUnavailable`` for anything the database at ``place`` or its disk cannot do, and ``InternalError`` for
    statements and values that no database would accept.
    """
    try:
        yield
    except DBAPIError as error:
        if isinstance(error, IntegrityError | ProgrammingError | DataError) and get_sqlstate(error) != _ACCESS_DENIED:
            raise InternalError(
                f"The database {place} refused what we asked of it: {_describe_error(error)}."
            ) from error
        raise StoreUnavailable(f"The database {place} cannot be used: {_describe_reason(error)}.") from error
    except StatementError as error:
        raise InternalError(f"The database {place} was asked something impossible: {error.orig}.") from error
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"The database {place} cannot be used: {error}.") from error
    except OSError as error:
        raise StoreUnavailable(f"The database {place} cannot be used: {error.strerror or error}.") from error


def get_sqlstate(error: DBAPIError) -> str | None:
    """Return PostgreSQL's five-character code of an error."""
    return getattr(error.orig, "sqlstate", None)


def _describe_reason(error: DBAPIError) -> str:
    code = getattr(error.orig, "sqlite_errorcode", None)
    known = None if code is None else _SQLITE.get(code & 0xFF)  # the higher bits give the subtype
    return known or _describe_error(error)


def _describe_error(error: DBAPIError) -> str:
    return " ".join(str(error.orig).split()).rstrip(".") or type(error.orig).__name__

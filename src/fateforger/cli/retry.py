"""Remember a writing command until its answer was shown.

The same command, typed again after a crash or Ctrl-C, then continues what it began instead of starting over.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fateforger.errors import StoreUnavailable

if TYPE_CHECKING:
    from fateforger.commit import CalendarSubmitter

NEWEST = ""
"""The ``what`` of an undo that names no transaction."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command and its object: a plan (by its digest) or a transaction."""

    kind: Literal["apply", "undo"]
    what: str
    force: bool = False

    def repeats(self, earlier: Request) -> bool:
        """Check whether it asks for the same as an earlier one. An undo that names no transaction repeats any undo."""
        what = earlier.what if (self.kind, self.what) == ("undo", NEWEST) else self.what
        return (self.kind, what, self.force) == (earlier.kind, earlier.what, earlier.force)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A running command, kept in a file. ``cause`` identifies it in the journal."""

    path: Path
    cause: str

    def close(self) -> None:
        """Forget the command: its person has the answer."""
        self.path.unlink(missing_ok=True)


async def begin_attempt(data_dir: Path, submitter: CalendarSubmitter, request: Request) -> Attempt:
    """Begin a command, or continue the same one if its answer was never shown and nothing was written since.

    The caller holds the lock of the data directory. Raises ``StoreUnavailable``.
    """
    name = hashlib.sha256(submitter.calendar_key.encode()).hexdigest()[:32]
    path = data_dir / "commands" / f"{name}.json"
    try:
        if path.exists():
            known = json.loads(path.read_text())
            cause = known.pop("cause")
            if request.repeats(Request(**known)) and await submitter.may_be_repeated(cause):
                return Attempt(path, cause)
        cause = f"door-{uuid.uuid4().hex}"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps({**asdict(request), "cause": cause}))
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"I cannot use {path}: {error.strerror}.", where="data_dir") from None
    except (ValueError, TypeError, KeyError):
        raise StoreUnavailable(f"I cannot read {path}. Delete it, and try again.", where="data_dir") from None
    return Attempt(path, cause)


def hash_document(document: str) -> str:
    """Return the digest that identifies a plan."""
    return hashlib.sha256(document.encode()).hexdigest()

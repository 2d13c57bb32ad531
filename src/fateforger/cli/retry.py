"""What a command that writes leaves behind until its answer was shown, so that the same command, typed again after a
crash or Ctrl-C, goes on with what it began instead of doing something more."""

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
"""What an undo names that names nothing."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command: what it was asked to do, to a plan (by its digest) or a transaction."""

    kind: Literal["apply", "undo"]
    what: str
    force: bool = False

    def repeats(self, earlier: Request) -> bool:
        """Check whether it asks for the same as an earlier one. An undo that names nothing repeats any undo."""
        what = earlier.what if (self.kind, self.what) == ("undo", NEWEST) else self.what
        return (self.kind, what, self.force) == (earlier.kind, earlier.what, earlier.force)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A command under way, kept in a file. ``cause`` is what the journal knows it by."""

    path: Path
    cause: str

    def close(self) -> None:
        """Forget it: its person has the answer."""
        self.path.unlink(missing_ok=True)


async def begin(data_dir: Path, submitter: CalendarSubmitter, request: Request) -> Attempt:
    """Begin a command, or go on with the same one if nobody saw its answer and nothing was written since. The caller
    holds the lock of the data directory. Raises ``StoreUnavailable``."""
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


def digest(document: str) -> str:
    """Return what a plan is recognized by."""
    return hashlib.sha256(document.encode()).hexdigest()

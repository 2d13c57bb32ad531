"""The program, run as a person would, but in this process: for what does not depend on being one of its own."""

from __future__ import annotations

import contextlib
import io

import pytest

from fateforger.cli import main


def run_inside(*arguments: str) -> tuple[int, str, str]:
    """Run the program in this process and return its status, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue(), err.getvalue()


def without_doubt(err: str) -> str:
    """Return stderr without the sentence on an unknown id, which every first command for a person gets."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("Nobody here had the id "))

"""The notebook runs from its first cell to its last, and prints its stored output.

``NOTEBOOK_WRITE=1 pytest tests/scenarios/test_notebook.py`` writes down what it prints now.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks" / "phase5_integration_test.ipynb"


def read() -> nbformat.NotebookNode:
    import nbformat  # loads grammars for two seconds, in each process that collects tests

    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-any-return,no-untyped-call]  # the library has no types


def list_outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the printed text of each cell. Any other kind of output is shown by the name of its kind."""
    return [
        "".join(o["text"] if o["output_type"] == "stream" else f"<{o['output_type']}>" for o in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.process
def test_the_notebook_says_what_happens() -> None:
    """S60: engine, calendar, model, coordinator and replay, on local parts alone."""
    import nbformat
    from nbclient import NotebookClient

    written, run = read(), read()
    client = NotebookClient(
        run,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    if os.environ.get("NOTEBOOK_WRITE"):
        nbformat.write(run, NOTEBOOK)  # type: ignore[no-untyped-call]  # the library has no types
        written = run
    assert list_outputs(run) == list_outputs(written)


def test_nothing_in_it_tells_where_it_was_run() -> None:
    text = NOTEBOOK.read_text()
    assert [word for word in ("/tmp", "/home", "/root", str(ROOT)) if word in text] == []

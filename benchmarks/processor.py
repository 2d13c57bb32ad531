"""Processor time of running programs, as Linux counts it. A busy machine changes it less than times on a clock."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import psycopg

TICKS = os.sysconf("SC_CLK_TCK")


def read_processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process and its children, including those that have ended."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    spent = sum(_read_times(pid))
    for child in children:
        with suppress(FileNotFoundError):  # it has ended since, and is counted next time
            spent += sum(_read_times(int(child))[:2])
    return spent / TICKS


def _read_times(pid: int) -> list[int]:
    """Return the ticks of a process in its program and in the kernel, and those of its children that have ended."""
    return [int(each) for each in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]]


def find_server(url: str) -> int:
    """Return the process id of the PostgreSQL server of a database, which is on this machine."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
    assert row is not None
    return int(row[0].split()[0])

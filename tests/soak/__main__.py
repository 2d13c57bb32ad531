"""``python -m tests.soak``: random histories, and how often something was lost, foreign or there twice; with
``--kills``, the real program killed again and again; with ``--terminals``, command lines on one calendar; with ``--chaos``, days in which everything fails."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import click
from tests.postgres import MISSING, programs, programs_with_vectors, running_server
from tests.soak.chaos import open_chaos
from tests.soak.days import Kind
from tests.soak.kills import kill_again_and_again
from tests.soak.run import KINDS, HistoryResults, Script, play_all, stage
from tests.soak.terminals import TerminalResults, play_some

BATCH = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same histories")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--replay", metavar="HISTORY", help="tell one history: seed:number, or a trace as printed")
    parser.add_argument("--kills", type=int, help="kill -9 the real program so often instead, on each database")
    parser.add_argument("--terminals", type=int, help="play so many histories of command lines on one calendar instead")
    parser.add_argument("--terminal", metavar="HISTORY", help="play one of them: seed:number")
    parser.add_argument(
        "--chaos", type=int, metavar="DAYS", help="live so many days while everything fails, on each database"
    )
    parser.add_argument("--calendar", choices=get_args(Kind), default="fake", help="that of --histories")
    given = parser.parse_args()
    if given.kills:
        return kill_loop(given.kills, given.seed)
    if given.chaos:
        return live_in_chaos(given.chaos, given.seed)
    if given.terminals or given.terminal:
        seed, _, number = (given.terminal or str(given.seed)).partition(":")
        return play_terminals(int(seed), [int(number)] if number else range(given.terminals))
    return replay(given.replay) if given.replay else soak(given.seed, given.histories, given.jobs, given.calendar)


def soak(seed: int, histories: int, jobs: int, kind: Kind) -> int:
    began, tally, said = time.monotonic(), HistoryResults(), 0.0
    batches = [range(n, min(n + BATCH, histories)) for n in range(0, histories, BATCH)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(play_all, seed, batch, kind=kind) for batch in batches]):
            tally.add(done.result())
            if time.monotonic() - said > 5:
                said = time.monotonic()
                say(tally, said - began)
    say(tally, time.monotonic() - began)
    c = tally.counts
    click.echo(f"{kind}, seed {seed}: {tally.histories} histories, {c['edits']} edits by hand, {c['writes']} writes")
    click.echo(
        f"lost edits {tally.breaches['lost']}, foreign writes {tally.breaches['foreign']}, duplicates {tally.breaches['duplicate']}"
    )
    click.echo(", ".join(f"{kind} {tally.breaches[kind]}" for kind in KINDS[3:]))
    click.echo(f"raced (no calendar without conditional writes can stop these): {c['raced']}")
    if not tally.failed:
        return 0
    click.echo(f"failed: {' '.join(sorted(tally.failed)[:20])}")
    with stage() as on:
        trace = str(on.shortest(Script.read(min(tally.failed, key=len))))
    click.echo(f"The shortest of one of them; replay it with\n  python -m tests.soak --replay '{trace}'")
    return 1


def kill_loop(kills: int, seed: int) -> int:
    with TemporaryDirectory() as folder:
        click.echo(f"SQLite: {kill_again_and_again(Path(folder), None, kills, seed)}")
    found = programs()
    if found is None:
        click.echo(MISSING)
        return 0
    with TemporaryDirectory() as folder, running_server(found) as server, server.database() as url:
        click.echo(f"PostgreSQL: {kill_again_and_again(Path(folder), url, kills, seed)}")
    return 0


def live_in_chaos(days: int, seed: int) -> int:
    """Live on SQLite, then on PostgreSQL with two programs; each ends with its first breach."""
    found = programs_with_vectors()
    broken = False
    for name, where in (("SQLite", None), ("PostgreSQL", found)):
        if name == "PostgreSQL" and where is None:
            click.echo(MISSING)
            continue
        with TemporaryDirectory() as folder, running_server(where) if where else nullcontext() as server:
            with open_chaos(Path(folder), str(seed), server) as chaos:
                chaos.live(days)
            click.echo(f"{name}, {chaos}")
            broken = broken or bool(chaos.breaches)
    return int(broken)


def play_terminals(seed: int, numbers: Sequence[int]) -> int:
    def tell(so_far: TerminalResults) -> None:
        click.echo(f"{so_far.histories:7} histories of command lines; failed: {len(so_far.failed)}")

    with TemporaryDirectory() as folder:
        played = asyncio.run(play_some(Path(folder), seed, numbers, tell))
    click.echo(
        f"command lines, seed {seed}: {played.histories} histories, {played.commands} commands, {played.kills} of them"
        f" killed; failed {len(played.failed)}"
    )
    for failed in played.failed:
        name = failed.partition("\n")[0]
        click.echo(f"{failed}\nPlay it again with\n  python -m tests.soak --terminal {name}")
    return 1 if played.failed else 0


def say(tally: HistoryResults, seconds: float) -> None:
    three = [tally.breaches[kind] for kind in KINDS[:3]]
    others = sum(tally.breaches.values()) - sum(three)
    click.echo(
        f"{tally.histories:7} histories, {tally.histories / seconds:5.0f}/s; lost, foreign, duplicates: {three}; other {others}",
    )


def replay(trace: str) -> int:
    script = Script.read(trace)
    with stage() as on:
        history = on.play(script)
    click.echo(script.setting)
    click.echo("\n".join(history.log))
    for kind, what in history.truth.breaches:
        click.echo(f"{kind}: {what}")
    return 1 if history.truth.breaches else 0


if __name__ == "__main__":
    sys.exit(main())

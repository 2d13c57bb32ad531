"""A small share of the soak in every run of the suite, and whether its witness sees what is broken."""

from __future__ import annotations

from typing import Any

import pytest
from tests.soak.broken import BROKEN, blind
from tests.soak.days import Kind
from tests.soak.run import Script, play_all, stage

SEED = 20260302
SHARE = 120


def test_nothing_is_lost_foreign_or_there_twice() -> None:
    """P1-P8, P11, P13, P15, P17-P20: and the histories are lively, or they would prove nothing."""
    tally = play_all(SEED, range(SHARE))
    assert (tally.failed, +tally.breaches) == ([], {})
    assert tally.counts["edits"] >= SHARE
    assert tally.counts["writes"] >= 5 * SHARE


@pytest.mark.parametrize(("kind", "share"), [("google", SHARE), ("microsoft", SHARE // 3), ("caldav", SHARE // 6)])
def test_nothing_is_lost_foreign_or_there_twice_at_a_provider(kind: Kind, share: int) -> None:
    """S302, S310, S366: The same over an adapter, where the trouble is that of requests: refused, lost, late, overtaken."""
    tally = play_all(SEED, range(share), kind=kind)
    assert (tally.failed, +tally.breaches) == ([], {})
    assert tally.counts["writes"] >= 5 * share


@pytest.mark.parametrize(("engine", "kind"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_the_witness_sees_a_broken_engine(engine: Any, kind: str) -> None:
    """Each bug is counted as what it is, within a handful of histories."""
    with stage(engine) as on:
        seen = (k for n in range(SHARE) for k, _ in on.play(Script.draw(SEED, n)).truth.breaches)
        assert kind in seen


def test_the_witness_sees_a_broken_engine_over_caldav() -> None:
    """It looks at the server, so it does not need what the broken engine leaves out."""
    with stage(blind) as on:
        assert "lost" in (k for n in range(100) for k, _ in on.play(Script.draw(SEED, n, "caldav")).truth.breaches)


@pytest.mark.parametrize(("kind", "histories"), [("fake", 12), ("caldav", 3)])
def test_the_same_seed_gives_the_same_history(kind: Kind, histories: int) -> None:
    with stage() as one, stage() as other:
        scripts = [Script.draw(SEED, n, kind) for n in range(histories)]
        assert [one.play(s).log for s in scripts] == [other.play(s).log for s in scripts]


def test_a_trace_can_be_replayed_and_shortened() -> None:
    """The shortest trace of a history that went wrong still goes wrong, and can be read back."""
    engine, kind = BROKEN[0]
    with stage(engine) as on:
        script = next(s for n in range(100) if kind in _kinds(on, s := Script.draw(SEED, n)))
        short = on.shortest(script)
        assert len(short.steps) <= len(script.steps)
        assert Script.read(str(short)) == short
        assert kind in _kinds(on, short)


def _kinds(on: Any, script: Script) -> set[str]:
    return {kind for kind, _ in on.play(script).truth.breaches[:1]}

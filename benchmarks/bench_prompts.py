"""Measure the cost of messages in tokens, by kind of turn, before and after the prompts got a constant system text.

A token is counted as four characters; answers are not counted. The peer are the prompts of commit 4c379e73, from the
same sessions with the same message. The conversations and the frequency of each kind of turn are those of an audit. It
did not count messages about the queue; before, one prompt read all of a first message. The share of the other messages
that hold a rule is not known, so the last line has the worst case, a rule in each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.factories.prompts import TYPES

from fateforger.conversation.language.model_calls import system_text

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "prompts"
CHARACTERS = 4
KEPT = 1_024
"""Tokens from which on providers keep the beginning of a prompt."""
TARGET = 0.6
"""Most tokens of all conversations, of those before."""
TARGET_CONSTANT = 0.9
"""Least share of the system texts that is the same in each call."""


@dataclass(frozen=True)
class Size:
    """Tokens of a prompt; ``constant`` are those at its beginning that are the same in each call."""

    system: int
    user: int
    constant: int

    @property
    def whole(self) -> int:
        return self.system + self.user


BEFORE: Mapping[str, Size] = {
    "ask": Size(420, 315, 49),
    "date": Size(2296, 211, 616),
    "decide": Size(1219, 198, 23),
    "draft": Size(807, 230, 500),
    "facts": Size(2429, 231, 32),
    "memory": Size(2356, 209, 882),
    "patch": Size(4354, 315, 1410),
    "replan": Size(1066, 176, 22),
    "rules": Size(2043, 147, 739),
    "start": Size(3410, 239, 1106),
}


@dataclass(frozen=True)
class Kind:
    """A kind of turn: the prompts that it takes now, and how often it was in the conversations.

    Before, each message in a thread was read for rules as well.
    """

    name: str
    prompts: tuple[str, ...]
    times: int

    @property
    def before(self) -> tuple[str, ...]:
        if "queue" in self.prompts:
            return ("start",) if "start" in self.prompts else ("decide", "start", "rules")
        return self.prompts if self.prompts == ("start",) else tuple({*self.prompts, "rules"})

    @property
    def at_worst(self) -> tuple[str, ...]:
        """With a rule in the message."""
        return tuple({*self.prompts, "rules"})


KINDS = (
    Kind("first message", ("start",), 14),
    Kind("the same, of the queue", ("start", "queue"), 0),
    Kind("the queue, in a thread", ("decide", "queue"), 0),
    Kind("yes, or a step", ("decide",), 16),
    Kind("answer to a step", ("decide", "facts"), 8),
    Kind("change", ("decide", "patch"), 6),
    Kind("change, with a rule", ("decide", "rules", "patch"), 2),
    Kind("question", ("decide", "ask"), 3),
    Kind("memory", ("decide", "memory"), 4),
    Kind("how the day goes", ("decide", "replan"), 1),
)


def measure() -> dict[str, Size]:
    """Return the sizes of today's prompts, from the texts that a test compares with what is sent.

    A system text is constant as far as it is the one that is built without any session.
    """
    sizes = {}
    for file in GOLDEN.glob("*.txt"):
        name = file.name.partition(".")[0]
        _, _, body = file.read_text().partition("\n\n")
        system, _, user = (part.strip() for part in body.partition("-" * 80))
        same = takewhile(lambda pair: pair[0] == pair[1], zip(system, system_text(name, TYPES[name]), strict=False))
        sizes[name] = Size(*(length // CHARACTERS for length in (len(system), len(user), sum(1 for _ in same))))
    return sizes


def main() -> int:
    now = measure()
    print(f"{'turn':22}{'calls':>7}{'now':>5}{'tokens':>9}{'now':>8}{'ratio':>7}{'constant':>10}{'now':>6}")
    for kind in KINDS:
        then_sizes, now_sizes = [BEFORE[name] for name in kind.before], [now[name] for name in kind.prompts]
        spent, spent_now = _sum(then_sizes), _sum(now_sizes)
        print(
            f"{kind.name:22}{len(then_sizes):7}{len(now_sizes):5}{spent:9}{spent_now:8}{spent_now / spent:7.2f}"
            f"{_constant_share(then_sizes):10.0%}{_constant_share(now_sizes):6.0%}"
        )
    total = sum(kind.times * _sum([BEFORE[name] for name in kind.before]) for kind in KINDS)
    total_now = sum(kind.times * _sum([now[name] for name in kind.prompts]) for kind in KINDS)
    worst = sum(kind.times * _sum([now[name] for name in kind.at_worst]) for kind in KINDS)
    print(f"{'all conversations':34}{total:9}{total_now:8}{total_now / total:7.2f}  target {TARGET}")
    print(f"{'with a rule in each message':34}{total:9}{worst:8}{worst / total:7.2f}")
    kept = sorted(name for name, size in now.items() if size.constant >= KEPT)
    print(f"constant for {KEPT} tokens, so that a provider can keep it: {', '.join(kept)}")
    met = total_now <= TARGET * total and all(size.constant >= TARGET_CONSTANT * size.system for size in now.values())
    return 0 if met else 1


def _sum(sizes: Sequence[Size]) -> int:
    return sum(size.whole for size in sizes)


def _constant_share(sizes: Sequence[Size]) -> float:
    return sum(size.constant for size in sizes) / sum(size.system for size in sizes)


if __name__ == "__main__":
    sys.exit(main())

"""Labeled messages for search by meaning: rules of five people, each in one language, and their messages.

The messages next to the rules of a language are for development: retrieval was tuned with them, and some of their
labels were regrouped after a measurement. ``held_out.yaml`` tells how its messages were labeled. They were committed
before any embedder saw them and are not changed; the figures that count are theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.factories.constraints import version_of

from fateforger.memory.versions import Version

LANGUAGES = ("en", "nl", "de", "fr", "es")
FIRST = 12
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Message:
    """A statement or question, the rules that it is about, and one rule that must not come before them."""

    text: str
    kind: str
    about: tuple[str, ...]
    near_miss: str | None


@dataclass(frozen=True)
class Person:
    """A person with rules in one language, and messages in that one and others."""

    language: str
    versions: tuple[Version, ...]
    messages: tuple[Message, ...]

    @property
    def user_id(self) -> str:
        return f"U-{self.language}"

    @property
    def musts(self) -> frozenset[str]:
        return frozenset(version.uid for version in self.versions if version.record.necessity.value == "must")


def read_people(*, held_out: bool = True) -> tuple[Person, ...]:
    """Return the five people with the held-out messages, or with those for development."""
    apart = yaml.safe_load((_HERE / "held_out.yaml").read_text("utf-8"))
    people = []
    for language in LANGUAGES:
        document = yaml.safe_load((_HERE / f"{language}.yaml").read_text("utf-8"))
        versions = tuple(build_version(rule, f"U-{language}") for rule in document["rules"])
        rows = apart[language] if held_out else document["messages"]
        people.append(Person(language, versions, tuple(map(_read_message, rows))))
    return tuple(people)


def build_version(rule: Mapping[str, Any], user_id: str) -> Version:
    """Return a rule as the extraction stores it: name, words, necessity, topics and domain."""
    return version_of(
        rule["id"],
        user=user_id,
        name=rule["name"],
        description=rule["words"],
        necessity=rule["necessity"],
        topics=rule["topics"],
        aspect_classification={"category": rule["domain"]},
    )


def give_to(version: Version, user_id: str, uid: str) -> Version:
    """Return the rule as one of another person, with another uid."""
    return Version(
        user_id=user_id,
        record=version.record.with_uid(uid),
        created_at=version.created_at,
        updated_at=version.updated_at,
    )


def _read_message(row: Mapping[str, Any]) -> Message:
    return Message(row["text"], row.get("kind", "plain"), tuple(row["about"]), row.get("not"))


Rank = Callable[[Person, str], Awaitable[Sequence[str]]]
"""Return the uids of a person's rules for a message, the closest first."""


@dataclass
class Recall:
    """The share of some pairs that were found among the first."""

    found: int = 0
    pairs: int = 0

    @property
    def share(self) -> float:
        return self.found / self.pairs

    def add(self, *, found: bool) -> None:
        self.found += found
        self.pairs += 1


async def measure_recall(people: Sequence[Person], rank: Rank, first: int = FIRST) -> Mapping[str, Recall]:
    """Send each message of each person; return the recall among the ``first`` of several groups of pairs.

    The groups are ``all``, each necessity, ``wishes`` for all that are no musts, and these by language and by kind of
    message; ``before near misses`` says how often what a message is about came before its near miss.
    """
    recall: dict[str, Recall] = defaultdict(Recall)
    for person in people:
        necessity = {version.uid: version.record.necessity.value for version in person.versions}
        for message in person.messages:
            ranked = tuple(await rank(person, message.text))
            for uid in message.about:
                for group in _list_groups(person, message, necessity[uid]):
                    recall[group].add(found=uid in ranked[:first])
            if message.near_miss is not None:
                last = max(_find_place(ranked, uid) for uid in message.about)
                recall["before near misses"].add(found=last < _find_place(ranked, message.near_miss))
    return recall


def _list_groups(person: Person, message: Message, necessity: str) -> tuple[str, ...]:
    if necessity == "must":
        return "all", "must"
    return "all", necessity, "wishes", f"wishes, {person.language}", f"wishes, {message.kind}"


def _find_place(ranked: Sequence[str], uid: str) -> int:
    return ranked.index(uid) if uid in ranked else len(ranked)

"""Constraints for a stage of planning, by facts of the day, and for a question, by the index or by spelling (S95).

No text is compared. The index only supplies uids, so entries of it that are over, or another person's, are never
returned.

The index finds constraints by meaning. While it is away, and for words that are misspelled, spelling has to do.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Literal

from fateforger.memory.applicability import Answer, Context, Excluded, Why, decide_applicability
from fateforger.memory.record import ConstraintRecord, Label
from fateforger.memory.settings import read_frame
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Dimension, Domain, Necessity, Scope, Status, normalize_stage
from fateforger.planning.plan import ET
from fateforger.text import mark_message
from fateforger.values import Value, replace

_DOMAINS = frozenset(Domain) - {Domain.OTHER}


def build_text(record: ConstraintRecord) -> str:
    """Return the text by which a constraint is found: the person's words, and on a second line what it is about."""
    aspect = record.aspect
    about = () if aspect is None else (aspect.aspect_label, aspect.category)
    label = [record.name, *record.topics, *(word for word in about if word and word != Domain.OTHER)]
    return "\n".join(filter(None, (_fold(record.words), _fold(", ".join(label))))) or "?"


def read_domain(record: ConstraintRecord) -> Domain | None:
    """Return the part of life that a constraint is about; ``None`` if that is another one, or not known."""
    category = None if record.aspect is None else record.aspect.category
    return Domain(category) if category in _DOMAINS else None


def _fold(text: str) -> str:
    return " ".join(text.split())


NGRAM_NAME = "local-ngrams-1"
"""Increment with any change below: vectors of different versions cannot be compared."""
NGRAM_DIMENSIONS = 512
NGRAM_FLOOR = 0.06
"""Below this similarity, two texts share only hash collisions."""
_SIZES = (3, 4, 5)
_WHOLE, _SHORT = 1.5, 0.4
_SHORT_LETTERS = 3
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that say much in one character, or put no spaces between words: single characters and pairs are used."""


def embed_ngrams(text: str) -> list[float]:
    """Return a vector of length one; all zeros for a text without any letter, digit or symbol."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for word in split_words(text):
        for piece, weight in _iter_pieces(word):
            counts[piece] += 1
            weights[piece] = max(weight, weights.get(piece, 0.0))
    vector = [0.0] * NGRAM_DIMENSIONS
    for piece, count in counts.items():
        weight = weights[piece] * (1.0 + math.log(count))
        number = zlib.crc32(piece.encode("utf-8", "surrogatepass"))
        # Each piece has two dimensions, so that two pieces hardly ever share both. The signs make collisions cancel out
        # as often as they add up.
        for bits in (number, number >> 16):
            vector[bits % NGRAM_DIMENSIONS] += weight if bits & 0x8000 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def split_words(text: str) -> list[str]:
    """Split a text into runs of letters and digits without case, accents or character variants; a symbol is a word."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(c for c in folded if not "\u0300" <= c <= "\u036f")
    found: list[str] = []
    run: list[str] = []
    for character in [*unicodedata.normalize("NFC", bare), " "]:
        kind = unicodedata.category(character)[0]
        if kind in "LNM":
            run.append(character)
            continue
        if run:
            found.append("".join(run))
            run = []
        if kind == "S":
            found.append(character)
    return found


def _iter_pieces(word: str) -> Iterator[tuple[str, float]]:
    if _is_dense(word):
        yield from ((character, 1.0) for character in word)
        yield from ((word[n : n + 2], _WHOLE) for n in range(len(word) - 1))
        return
    # Most short words are common ones.
    weight = _SHORT if len(word) <= _SHORT_LETTERS and word.isalpha() else 1.0
    yield f"={word}", _WHOLE * weight
    marked = f"<{word}>"
    for size in _SIZES:
        yield from ((marked[n : n + size], weight) for n in range(len(marked) - size + 1))


def _is_dense(word: str) -> bool:
    return any(unicodedata.name(character, "").startswith(_DENSE) for character in word)


def find_by_spelling(text: str, versions: Iterable[Version], user_id: str, *, limit: int) -> tuple[str, ...]:
    """Return the uids of a person's constraints in force that are spelled like ``text``, the most similar first."""
    asked = {place: value for place, value in enumerate(embed_ngrams(text)) if value}
    current = (version for version in select_newest(versions, user_id).values() if not version.retired)
    scores = {version.uid: _compare(asked, embed_ngrams(build_text(version.record))) for version in current}
    similar = (uid for uid, score in scores.items() if score >= NGRAM_FLOOR)
    return tuple(sorted(similar, key=lambda uid: (-scores[uid], uid))[:limit])


def _compare(asked: dict[int, float], vector: list[float]) -> float:
    return sum(value * vector[place] for place, value in asked.items())


MOST_TYPES = 12
MOST_CONSTRAINTS = 50
STARTUP = "startup_prefetch"
"""The topic of constraints needed before the person has said anything."""
_WORKING = frozenset({"CAPTURE", "SKELETON", "REFINE", "REVIEW"})
_PLANNING = frozenset({"SKELETON", "REFINE", "REVIEW"})


class DayFacts(Value):
    """The known facts of the day, from its immovables, its blocks and its frame."""

    meetings: bool = False
    commutes: bool = False
    sleep: bool = False
    habits: bool = False
    gaps: bool = False
    """The day has unplanned time between its blocks."""
    blocks: tuple[ET, ...] = ()
    """The event types of the blocks in the plan."""


def select_event_types(stage: str, facts: DayFacts) -> tuple[ET, ...]:
    """Return the event types that constraints may be about at that stage, in the order of :class:`ET` (S15)."""
    key = normalize_stage(stage)
    found = set(facts.blocks)
    for there, types in (
        (facts.meetings, {ET.MEETING}),
        (facts.commutes, {ET.COMMUTE}),
        (facts.sleep, {ET.REGENERATION}),
        (facts.habits, {ET.HABIT}),
        (facts.gaps, {ET.BUFFER, ET.BACKGROUND}),
        (key in _PLANNING, {ET.PLAN_REVIEW}),
        (key in _WORKING, {ET.DEEP_WORK, ET.SHALLOW_WORK}),
    ):
        found |= types if there else set()
    return tuple(kind for kind in ET if kind in found)


class ConstraintQuery(Value):
    """Exact filters that all have to hold; an empty one filters nothing (S17)."""

    as_of: Date
    stage: str
    event_types_any: tuple[ET, ...] = ()
    statuses_any: tuple[Status, ...] = (Status.LOCKED, Status.PROPOSED)
    require_active: Literal[True] = True
    type_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes_any: tuple[Scope, ...] = ()
    limit: int = MOST_CONSTRAINTS


def build_queries(
    stage: str, day: Date, event_types: tuple[ET, ...] = (), type_ids: tuple[str, ...] = ()
) -> tuple[ConstraintQuery, ...]:
    """Return the queries to try one after another until one finds something (S14, S18).

    Stage 1 asks for constraints marked for the start, of any event type; then, once, for all lasting ones.
    """
    if normalize_stage(stage) != "COLLECT":
        return (ConstraintQuery(as_of=day, stage=stage, event_types_any=event_types, type_ids=type_ids),)
    lasting = ConstraintQuery(as_of=day, stage=stage, scopes_any=(Scope.PROFILE, Scope.DATESPAN))
    return (replace(lasting, tags=(STARTUP,)), lasting)


def query_types(versions: Iterable[Version], context: Context) -> tuple[str, ...]:
    """Return the type ids of the constraints that apply, at most 12 (S16).

    Those with a must come first, then the most frequent.
    """
    found: dict[str, list[ConstraintRecord]] = {}
    for item in decide_applicability(versions, replace(context, type_ids=(), k=None)).applicable:
        found.setdefault(item.record.type_id, []).append(item.record)
    ranks = {
        type_id: (min(record.necessity.weakness for record in records) > 0, -len(records), type_id)
        for type_id, records in found.items()
    }
    return tuple(sorted(ranks, key=lambda type_id: ranks[type_id])[:MOST_TYPES])


def retrieve(versions: Iterable[Version], context: Context, queries: tuple[ConstraintQuery, ...]) -> Answer:
    """Return the answer to the first query that finds anything, or to the last one.

    ``context`` gives the person, place and time; the day and the filters are the query's. A must is never cut.
    """
    rows = tuple(versions)
    answer = _run_query(rows, context, queries[0])
    for query in queries[1:]:
        if answer.applicable:
            break
        answer = _run_query(rows, context, query)
    return answer


def _run_query(versions: tuple[Version, ...], context: Context, query: ConstraintQuery) -> Answer:
    asked = {
        "as_of": query.as_of,
        "stage": query.stage,
        "event_types": query.event_types_any,
        "type_ids": query.type_ids,
        "k": None,
    }
    whole = decide_applicability(versions, Context.model_validate({**context.model_dump(), **asked}))
    admitted = [item for item in whole.applicable if _admits(query, item.record)]
    musts = sum(item.record.necessity is Necessity.MUST for item in admitted)
    room = max(query.limit, musts)
    limited = replace(whole.context, k=query.limit)
    cut = [Excluded(item.version, Why.CUT, limited) for item in admitted[room:]]
    return Answer(whole.context, tuple(admitted[:room]), (*whole.excluded, *cut))


def _admits(query: ConstraintQuery, record: ConstraintRecord) -> bool:
    return (
        record.status in query.statuses_any
        and (not query.scopes_any or record.scope in query.scopes_any)
        and (not query.tags or not tags_of(record).isdisjoint(query.tags))
    )


def tags_of(record: ConstraintRecord) -> frozenset[str]:
    """Return the tags of a record: its topics, and that of the start if it is marked for it or sets a day's frame."""
    marked = record.aspect is not None and record.aspect.is_startup_prefetch
    return frozenset((*record.topics, *((STARTUP,) if marked or read_frame(record) else ())))


class RuleFilter(Value):
    """Exact filters of a list of constraints; an empty one admits all (S27, S177)."""

    statuses: tuple[Status, ...] = ()
    scopes: tuple[Scope, ...] = ()
    necessities: tuple[Necessity, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    tags: tuple[Label, ...] = ()

    def admits(self, record: ConstraintRecord) -> bool:
        """Check whether a record passes all filters."""
        return (
            (not self.statuses or record.status in self.statuses)
            and (not self.scopes or record.scope in self.scopes)
            and (not self.necessities or record.necessity in self.necessities)
            and (not self.dimensions or record.dimension in self.dimensions)
            and (not self.tags or not tags_of(record).isdisjoint(self.tags))
        )


NEAREST = 12
"""The most constraints that one query finds."""
NO_INDEX = mark_message("I cannot search by meaning just now, and no rule has similar words, so this is everything.")
BY_SPELLING = mark_message("I cannot search by meaning just now, so these are the rules with similar words.")


def select_current(uids: Iterable[str], versions: Sequence[Version], user_id: str) -> tuple[Version, ...]:
    """Return a person's constraints in force among ``uids``, each once, newest version, in that order."""
    mine = select_newest(versions, user_id)
    found = (mine[uid] for uid in dict.fromkeys(uids) if uid in mine)
    return tuple(version for version in found if not version.retired)

"""Pseudonyms keep only the shape of a text; a model's answer keeps its structure (S221)."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.unit.conversation.sessions import make_command, plan_session, turn

from fateforger.conversation.language.answer_types import build_schema
from fateforger.conversation.language.answers import Decision, PatchWords
from fateforger.conversation.language.model_calls import extract_json
from fateforger.conversation.language.rule_extraction import ConstraintWords
from fateforger.conversation.recordings import Exchange
from fateforger.conversation.redaction import KEPT, Pseudonyms, redact_answer, redact_input
from fateforger.ports.model import Completion, Prompt, Role
from fateforger.session.draft import basis_of
from fateforger.session.stages import TimeboxingStage

WORDS = st.text(st.characters(categories=["L", "N", "M"]), min_size=1, max_size=12)


def hide() -> Pseudonyms:
    return Pseudonyms(b"key")


def answer(text: str, schema: dict[str, object] | None = None) -> str:
    prompt = Prompt("patch/1", Role.PATCH, "System.", "User.")
    exchange = Exchange.of(prompt, completion=Completion(text=text, model="m", seconds=0.1))
    hidden = redact_answer(exchange, schema, hide().text).completion
    assert hidden is not None
    return hidden.text


@given(st.text(max_size=80))
def test_a_text_keeps_its_length_and_what_stands_between_its_words(text: str) -> None:
    hidden = hide().text(text)
    assert len(hidden) == len(text)
    assert [c for c in hidden if not (c.isascii() and c.isalnum())] == [
        c for c in text if not (c.isalnum() or c.isdigit() or _is_mark(c))
    ]


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


@given(st.lists(WORDS, min_size=2, max_size=30))
def test_the_same_word_has_the_same_pseudonym_and_others_have_others(words: list[str]) -> None:
    names = hide()
    given_names = [names.text(word) for word in words]
    assert given_names == [names.text(word) for word in words]
    long = {word.lower() for word in words if len(word) > 3 and len(word.lower()) == len(word)}
    assert len({names.text(word) for word in long}) == len(long)


def test_without_the_key_nobody_gets_from_a_word_to_its_pseudonym() -> None:
    assert Pseudonyms(b"one").text("Zwetschge") != Pseudonyms(b"two").text("Zwetschge")


def test_what_the_schema_fixes_stays_in_an_answer() -> None:
    op: dict[str, object] = {
        "op": "add",
        "title": "Zwetschge 12:30",
        "type": "DW",
        "start": "14:00",
        "minutes": 45,
        "after": "b2",
    }
    said_ = {"ops": [op]}
    hidden = json.loads(answer(json.dumps(said_), build_schema(PatchWords)))
    name = hidden["ops"][0].pop("title")
    del op["title"]
    assert hidden == said_
    assert (len(name), "Zwetschge" in name, "12:30" in name) == (15, False, False)


def test_a_rule_over_the_order_of_the_day_stays_and_what_only_looks_like_one_does_not() -> None:
    """It is made of our own names, and the answer could not be read again without it."""
    said_ = {"day_rule": "NEVER: meeting_after_17", "description": "NEVER: Zwetschge_after_17"}
    hidden = json.loads(answer(json.dumps(said_), ConstraintWords.model_json_schema()))
    assert hidden["day_rule"] == "NEVER: meeting_after_17"
    assert "Zwetschge" not in hidden["description"]


def test_words_that_are_no_value_of_the_schema_are_hidden() -> None:
    text = answer('{"intent": "Zwetschge", "number": 3, "06-12345678": "P4ss"}', Decision.model_json_schema())
    value = extract_json(text)
    assert {name: value[name] for name in ("number",)} == {"number": 3}
    assert [word for word in ("Zwetschge", "12345678", "P4ss") if word in text] == []


def test_what_is_no_json_is_hidden_whole() -> None:
    text = '{"intent": "Zwetsch'
    hidden = answer(text, Decision.model_json_schema())
    assert ("Zwetsch" in hidden, len(hidden)) == (False, len(text))


def test_a_fresh_draft_stays_fresh() -> None:
    """S46: the fingerprint of a draft follows from titles too."""
    session = plan_session(TimeboxingStage.SKELETON)
    session = session.with_planning(draft_basis=basis_of(session))
    hidden = redact_input(turn(session, make_command("stage_action", move="proceed")), hide().text).session
    assert hidden.day.inputs != session.day.inputs
    assert hidden.planning.draft_basis == basis_of(hidden)


def test_every_kept_field_belongs_to_a_class_that_exists() -> None:
    """S221: a class that was renamed would have its ids hidden, and its recording could not be replayed."""
    kept = {name.partition(".")[0::2] for name in KEPT if "." in name}
    known = {kind.__name__: kind for kind in _models(BaseModel)}
    assert [(kind, field) for kind, field in kept if field not in known[kind].model_fields] == []


def _models(kind: type[BaseModel]) -> list[type[BaseModel]]:
    return [kind, *(found for each in kind.__subclasses__() for found in _models(each))]

"""Titles, lists and counts within sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fateforger.text import (
    count_more,
    count_units,
    format_count,
    gettext,
    has_words,
    join_clauses,
    join_words,
    label_text,
    limit_items,
    list_languages,
    quote_title,
    shorten,
    speak,
    truncate,
)

TEXTS = st.text(max_size=40)


@given(TEXTS, st.integers(1, 50))
def test_a_truncated_text_fits(text: str, limit: int) -> None:
    cut = truncate(text, limit)
    assert count_units(cut) <= limit
    assert cut == text if count_units(text) <= limit else cut.endswith("…") and text.startswith(cut[:-1])


def test_no_blank_comes_before_an_ellipsis() -> None:
    assert truncate("Write the report", 7) == "Write…"


@given(TEXTS)
def test_a_shortened_text_is_on_one_line(text: str) -> None:
    assert shorten(text, 20).split() == shorten(text, 20).split(" ") or not shorten(text, 20)


@pytest.mark.parametrize(
    ("title", "quoted"),
    [("Mail", "“Mail”"), (" Deep \n work ", "“Deep work”"), (" ", "“(no title)”"), ("x" * 81, f"“{'x' * 79}…”")],
)
def test_titles_are_quoted(title: str, quoted: str) -> None:
    assert quote_title(title) == quoted


@pytest.mark.parametrize(
    ("words", "joined"),
    [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and d")],
)
def test_words_are_joined(words: str, joined: str) -> None:
    assert join_words(words) == joined


@pytest.mark.parametrize(("most", "joined"), [(4, "a, b, c and d"), (3, "a, b, c and 1 more"), (1, "a and 3 more")])
def test_words_beyond_the_limit_are_counted(most: int, joined: str) -> None:
    assert join_words("abcd", most) == joined


@pytest.mark.parametrize("language", list_languages())
def test_clauses_and_labels_have_the_spaces_of_their_language(language: str) -> None:
    """S261: French sets one before a semicolon and a colon, where no line may break."""
    with speak(language):
        joined = join_clauses(["a", "", "b", "c"]), join_clauses(()), label_text("a", "b")
    blanks = ("\u202f", "\xa0") if language == "fr" else ("", "")
    assert joined == ("a{0}; b{0}; c".format(*blanks), "", "a{1}: b".format(*blanks))


def test_items_beyond_the_limit_are_counted() -> None:
    assert limit_items(["a", "b", "c"], 1, count_more) == ["a", "2 more"]
    assert limit_items(["a"], 1, count_more) == ["a"]


def test_counts_agree_with_their_noun() -> None:
    assert [format_count(n, "later write") for n in (0, 1, 2)] == ["0 later writes", "1 later write", "2 later writes"]
    assert [format_count(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]


def test_an_ellipsis_takes_the_place_of_a_full_stop() -> None:
    assert gettext("Next: **{title}**.", title=shorten("Write the report", 7)) == "Next: **Write…**"
    assert gettext("Next: **{title}**.", title="Report") == "Next: **Report**."


@pytest.mark.parametrize(
    ("text", "said"), [("👍", False), (":tada: ?!", False), ("", False), ("é", True), (":a: 9", True)]
)
def test_emoji_are_no_words(text: str, said: bool) -> None:  # noqa: FBT001  a case
    assert has_words(text) is said

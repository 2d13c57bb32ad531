"""CommonMark to Slack's mrkdwn, to plain text, and what people typed back to words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.checks import grows_linearly

from fateforger.session.cards import plain
from fateforger.slack.mrkdwn import parse_typed, split, strip_marks, to_mrkdwn
from fateforger.text import clean_text

_LOOKALIKES = str.maketrans("∗ˍ∼ˋ", "*_~`")


@pytest.mark.parametrize(
    ("commonmark", "slack"),
    [
        ("**bold** word", "*bold* word"),
        ("__bold__ word", "*bold* word"),
        ("*slanted* and _slanted_", "_slanted_ and _slanted_"),
        ("~~gone~~", "~gone~"),
        ("**bold with _slant_ in it**", "*bold with _slant_ in it*"),
        ("`code *as is* <b>`", "`code *as is* &lt;b&gt;`"),
        ("``a `tick` inside``", "`a ˋtickˋ inside`"),
        ("[a link](https://example.com/?a=1&b=2)", "<https://example.com/?a=1&amp;b=2|a link>"),
        ("[**bold** link](https://example.com)", "<https://example.com|bold link>"),
        ("<https://example.com>", "<https://example.com>"),
        ("- one\n- two\n  - inner", "• one\n• two\n  • inner"),
        ("* star list", "• star list"),
        ("1. first\n2. second", "1. first\n2. second"),
        ("## A heading", "*A heading*"),
        ("> quoted **text**", "> quoted *text*"),
        ("```\na < b\n```", "```\na &lt; b\n```"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("<@U123> and <!channel>", "&lt;@U123&gt; and &lt;!channel&gt;"),
        ("2 * 3 * 4", "2 ∗ 3 ∗ 4"),
        ("snake_case_name", "snake_case_name"),
        ("an unclosed **bold", "an unclosed ∗∗bold"),
        ("about ~5 minutes", "about ∼5 minutes"),
        (r"\*not bold\*", "∗not bold∗"),
        (r"\[x\] \<y\> \\ z", r"[x] &lt;y&gt; \ z"),
        (r"**09:00** Buy \*milk\* \_now\_", "*09:00* Buy ∗milk∗ ˍnowˍ"),
        (r"a\_b and 2 \* 3", "a_b and 2 * 3"),
        ("C:\\dir", "C:\\dir"),
        ("", ""),
    ],
)
def test_commonmark_becomes_mrkdwn(commonmark: str, slack: str) -> None:
    assert to_mrkdwn(commonmark) == slack


@pytest.mark.parametrize(
    ("commonmark", "words"),
    [
        ("**bold** _slanted_ ~~gone~~ `code`", "bold slanted gone code"),
        ("[a link](https://example.com)", "a link"),
        (r"Buy \*milk\* & bread", "Buy *milk* & bread"),
        ("## A heading\n- item", "A heading\n• item"),
    ],
)
def test_marks_are_taken_off_for_plain_text(commonmark: str, words: str) -> None:
    assert strip_marks(commonmark) == words


@given(st.text(max_size=80))
def test_a_title_reads_in_slack_as_it_was_written(title: str) -> None:
    """Any title of an event is shown literally: no style, no mention, no link."""
    shown = to_mrkdwn(f"**09:00** {plain(title)}").removeprefix("*09:00* ")
    assert "<" not in shown
    assert ">" not in shown
    assert not re.search(r"&(?!amp;|lt;|gt;)", shown)
    read = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert read.translate(_LOOKALIKES) == " ".join(clean_text(title).split()).translate(_LOOKALIKES)


@given(st.text(alphabet="*_~` ab", max_size=30))
def test_marks_in_a_title_style_nothing(title: str) -> None:
    """Slack opens a style at a mark that has no word before it and no space after it; none may be left."""
    shown = to_mrkdwn(plain(title))
    assert "`" not in shown
    assert not re.search(r"(?<![\w])[*_~](?![\s*_~]|$)", shown)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("<@UBOT> move lunch", "move lunch"),
        ("move lunch, <@UBOT>", "move lunch,"),
        ("ask <@U2|robin> &amp; <@U3>", "ask @robin & @U3"),
        ("see <https://example.com|the page> or <https://example.com>", "see the page or https://example.com"),
        ("a &lt; b &amp;lt; c", "a < b &lt; c"),
        ("<!here> hi", "here hi"),
    ],
)
def test_what_was_typed_is_read_without_slacks_escapes(sent: str, words: str) -> None:
    assert parse_typed(sent, without_mentions_of={"UBOT"}) == words


@pytest.mark.timeout(10)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_an_emoji_that_is_longer_than_a_piece_is_a_piece_of_its_own(limit: int) -> None:
    assert split("🎉🎉", limit) == ["🎉", "🎉"]


@pytest.mark.parametrize("pattern", ["*a ", "*a b* _c_ ", "`", "`a ``b ```c ", "[a](", "<a:", "**a", "_a *b "])
def test_a_text_takes_time_by_its_length(pattern: str) -> None:
    assert grows_linearly(to_mrkdwn, lambda size: pattern * (size // len(pattern)), 10_000)

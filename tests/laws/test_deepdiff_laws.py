"""The fields that DeepDiff names are those whose canonical values differ."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.factories.paper import MIDNIGHT

from fateforger.calendar.event import EventFields
from fateforger.calendar.model import list_changes

words = st.sampled_from(["", "a", " a ", "A", "a\r\nb", "a\nb", "ä", "a\u0308"])
instants = st.integers(0, 3).map(lambda half: MIDNIGHT + timedelta(seconds=half / 2))
shapes = st.builds(
    EventFields,
    summary=words,
    description=words,
    start=instants,
    end=instants,
    color_id=st.sampled_from([None, "", "1", "2"]),
)


@given(shapes, shapes)
def test_the_changed_fields_are_those_whose_values_differ(one: EventFields, other: EventFields) -> None:
    """S81: the changed fields are found by canonical values, for any texts, instants and colors."""
    before, after = one.canon, other.canon
    differing = {name for name, old in before._asdict().items() if old != getattr(after, name)}
    assert list_changes(before, after).keys() == differing

"""A person's days in small; ``python -m tests.soak.remembered 1000 5`` lives the whole of them."""

from __future__ import annotations

import pytest
from tests.soak.remembered import ConstraintHistory


@pytest.mark.parametrize("seed", [0, 2])
def test_rules_of_many_days_neither_rot_nor_get_lost(seed: int) -> None:
    """S179, S235: in five languages, added, changed, contradicted, taken back and expired. All that is meant is
    followed, and at most one row in a hundred is stale or there twice."""
    totals = ConstraintHistory(seed).run(100)
    assert totals.required > 300
    assert (totals.recalled, totals.missing) == (totals.required, [])
    assert totals.spoilt <= 0.01
    assert totals.most <= 10

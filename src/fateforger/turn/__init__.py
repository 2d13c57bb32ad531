"""One turn of a session: a typed input, one run of a graph, a typed outcome. No IO."""

from fateforger.turn.run import run_turn, warm_up

__all__ = ["run_turn", "warm_up"]

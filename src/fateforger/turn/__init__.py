"""One turn of a session: a typed input in, a typed outcome out, one run of a graph in between. It does no IO."""

from fateforger.turn.run import run_turn, warm_up

__all__ = ["run_turn", "warm_up"]

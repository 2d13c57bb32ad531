"""One conversation about one day: its state, its commands, and the decisions on them, without IO."""

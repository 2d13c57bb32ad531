"""One turn of a session: a typed input in, a typed outcome out, one run of a graph in between. It does no IO."""

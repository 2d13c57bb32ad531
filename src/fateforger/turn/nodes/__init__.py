"""What each node of a turn's graph does, as pure functions. The graph wraps them; nothing here knows AutoGen."""

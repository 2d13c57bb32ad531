"""Block Kit: what is valid where, and the parts of it that hold a value."""

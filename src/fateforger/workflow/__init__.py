"""Rule language: which actions must precede, follow, or never occur, and the check of a trace against them."""

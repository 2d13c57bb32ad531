"""Slack's limits, by what they limit."""

MAX_TYPED = 12_000
"""Characters of a message that a person types."""

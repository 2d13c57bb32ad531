"""Socket Mode: how the app connects, and how events and interactions reach it."""

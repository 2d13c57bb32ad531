"""Payloads on their way to the app: over its sockets, or as requests to its addresses."""

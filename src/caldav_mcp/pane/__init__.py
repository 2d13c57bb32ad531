"""The day next to the chat: a read-only page that keeps itself up to date."""

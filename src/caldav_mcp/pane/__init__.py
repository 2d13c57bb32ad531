"""The day next to the chat: a page that keeps itself up to date, on which blocks can be moved."""

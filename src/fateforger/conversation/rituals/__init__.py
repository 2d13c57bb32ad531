"""Messages that the bot sends by itself, by choice: one begins the day, one closes it, one looks back on the week."""

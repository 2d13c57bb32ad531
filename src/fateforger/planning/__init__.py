"""Plan of one day and the changes to it."""

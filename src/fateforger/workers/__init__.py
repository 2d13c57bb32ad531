"""All background work: ``lanes`` is the table of it, ``supervisor`` runs it, the rest is code of single lanes."""

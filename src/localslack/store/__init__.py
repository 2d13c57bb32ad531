"""Everything a person could see, in one SQLite file."""

"""A person's constraints: the record, applicability, contradiction, and migration."""

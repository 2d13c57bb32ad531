"""What was written to a calendar, when and why, and how to take it back."""

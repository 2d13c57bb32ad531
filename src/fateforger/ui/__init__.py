"""Cards, forms, and pictures: pure functions between a session and what a person sees (S48, S54, S61, S213)."""

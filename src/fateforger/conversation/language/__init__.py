"""What people write, read by a language model: prompts, typed answers, and the commands that they mean (K4).

Nothing here inspects the words themselves.
"""

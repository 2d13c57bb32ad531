"""What a message says, read by a model into typed values, and what those mean as commands (K4). Nothing here looks at
words itself."""

"""A study and what was published: text, page and pictures."""

"""Results for other programs, and what is removed from what is shared."""

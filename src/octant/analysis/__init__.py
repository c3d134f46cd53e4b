"""What records say: figures with their limits and doubts, runs in rows and beside one another, models of messages."""

"""What records say: figures with their limits and caveats, runs in rows and beside one another, models of messages."""

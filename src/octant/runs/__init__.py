"""From what is asked to launches, and from launches to records in the store."""

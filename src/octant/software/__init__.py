"""Software that measurements depend on or run beside: versions, libraries, processes. Live only."""

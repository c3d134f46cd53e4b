"""Software that affects measurements on this machine: versions, libraries, other processes."""

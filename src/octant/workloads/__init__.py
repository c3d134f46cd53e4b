"""One folder a workload; the folder is the registration."""

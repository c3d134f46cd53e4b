"""Models of machines and workloads: pure functions from measurements to predictions."""

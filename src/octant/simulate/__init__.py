"""Connections of the network model: kernels and SimGrid on its networks, study functions, calibration from runs."""

"""The network model beside the rest: kernels and SimGrid on its networks, studies of it, calibration from figures."""

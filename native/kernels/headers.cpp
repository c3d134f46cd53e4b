// Owns the precompiled headers of the kernels' programs; has no code.

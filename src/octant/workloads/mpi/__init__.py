"""Messages: what MPI and the wires between ranks can do."""

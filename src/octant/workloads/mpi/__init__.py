"""Messages: what MPI and the network between ranks can do."""

"""Images that jobs make, from Python: run, looked through, exported."""

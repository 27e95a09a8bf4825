"""Jobs: settings, rounds, chunks and their queue."""

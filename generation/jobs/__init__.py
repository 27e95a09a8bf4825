"""Jobs: settings, chunks, the queue, workers and the rounds that fill a plan."""

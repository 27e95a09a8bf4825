"""What backends share that have their images made by a server: limits, retries and a budget."""

"""What a page keeps between runs: session, URL, access rights and background tasks."""

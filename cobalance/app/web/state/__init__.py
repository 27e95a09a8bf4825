"""State between runs of a page: session, URL, access rights, background tasks."""

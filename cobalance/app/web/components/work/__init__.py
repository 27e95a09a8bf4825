"""Jobs, tasks and workers: forms, buttons and what runs."""

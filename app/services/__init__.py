"""The composition root: open stores and folders, and run loads, plans, jobs and exports on them."""

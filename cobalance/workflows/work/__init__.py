"""Workers: what they run, here or in processes of their own, and tables of jobs and tasks."""

"""Run workers, in this process or in others; tables of jobs and tasks."""

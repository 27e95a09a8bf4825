"""Tasks: long work on the job queue that makes no images, such as training a model."""

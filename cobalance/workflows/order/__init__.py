"""Order a plan's images as a job."""

"""Human studies of a job's images: created, answered by people, and evaluated."""

"""What pages share around the concept graph: its axis, centre, colours and story."""

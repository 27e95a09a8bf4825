"""Plans of missing images, of edits and of baselines: made, compared, and worded."""

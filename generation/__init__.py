"""From imbalances to the images that remove them: planning now, making and filtering later."""

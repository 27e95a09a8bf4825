"""People judge a blind sample: audits of labels, and studies of edited images."""

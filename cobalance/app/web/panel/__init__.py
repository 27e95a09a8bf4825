"""Pages for people who judge blind samples: audits of labels, and studies of edited images."""

"""What people are asked, from Python: audits of labels and studies of edited images."""

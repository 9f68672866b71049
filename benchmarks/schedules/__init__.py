"""The experiments of "Scalable Event Matching for Overlapping Subscriptions" (Liu and others 2007), section 5."""

"""A job to look at: book auctions, ten thousand rules, a million rows."""

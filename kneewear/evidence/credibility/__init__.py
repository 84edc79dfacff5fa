"""Report on the credibility of a finished study."""

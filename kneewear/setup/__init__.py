"""Files of a user: recognised for new settings, or summed up for a report of a fault."""

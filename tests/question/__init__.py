"""Questions: options, properties, facts."""

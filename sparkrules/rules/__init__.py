"""What users write, on its way into a rule set: sources, checked fields, validity, compiled content."""

"""What one would do without sparkrules, each as well as it can be done."""

"""What is asked, unit by unit."""

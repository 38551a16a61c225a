"""The numbers of a student's own, unit by unit, beside the checks that use them."""

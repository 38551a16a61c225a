"""What the notebooks of the small course import."""

__course__ = True  # its functions are part of a course: they are counted, lent and reserved as such

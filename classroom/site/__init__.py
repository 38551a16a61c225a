"""The course as a static web site."""

"""For instructors: executing and releasing notebooks. Nothing a student imports reaches this."""

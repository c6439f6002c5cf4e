"""Units in the form that the projects of others take."""

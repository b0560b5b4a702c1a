"""Where bundles go to be found again: a folder, an HTTP server or an OCI registry, all of one form."""

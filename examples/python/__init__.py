"""Programs that use the shared browser by the Python client, and the site that they work on."""

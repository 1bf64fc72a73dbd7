"""What tests are built on: a real service with a real browser, agents that call it, and a site to act on."""

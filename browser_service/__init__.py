"""The browser service: owns Playwright pages behind HTTP."""

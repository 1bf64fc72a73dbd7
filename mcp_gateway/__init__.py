"""The MCP gateway: lists the tools, forwards their calls to the browser service, converts the replies."""

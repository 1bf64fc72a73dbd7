"""Reads the JSON-RPC messages of a pair of file descriptors, one on a line."""

from collections.abc import Iterator

from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import InvalidMessage, Message
from shared.json_lines.lines import Lines


class Descriptors(Lines):
    """Holds the two descriptors that carry MCP and nothing else."""

    def messages(self) -> Iterator[Message]:
        """Yield the client's messages until it closes. Each line that is no message gets an error in reply."""
        for line, is_complete in self.read():
            if message := self.message(line, is_complete=is_complete):
                yield message

    def message(self, line: bytes, *, is_complete: bool) -> Message | None:
        """Return the message on a line; None for an empty line, and for what is none and got its error."""
        try:
            if not is_complete:
                raise jsonrpc.too_large(line, self.most_bytes)
            return jsonrpc.parse(line) if line.strip() else None
        except InvalidMessage as invalid:
            self.write(jsonrpc.response(invalid.request_id, error=invalid.error))
            return None

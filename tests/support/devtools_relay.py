"""Relays the debugging port of one browser as if it were another's: `python -m tests.support.devtools_relay PORT PATH
OTHER_PORT OTHER_PATH`. It prints the first line of each request."""

import asyncio
import sys


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, old: bytes, new: bytes, *, tells: bool
) -> None:
    """Pass bytes on, with another path in their first part: both paths have one length."""
    try:
        first = await reader.read(65_536)
        if tells:
            _say(first.split(b"\r\n")[0].decode(errors="replace"))
        writer.write(first.replace(old, new))
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # one of the two has gone
    finally:
        writer.close()


async def relay(port: int, path: str, other_port: int, other_path: str) -> None:
    asked, has = path.encode(), other_path.encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", other_port)
        await asyncio.gather(
            _pass_on(reader, other_writer, asked, has, tells=True),
            _pass_on(other_reader, writer, has, asked, tells=False),
        )

    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        _say("ready")
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(relay(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]))

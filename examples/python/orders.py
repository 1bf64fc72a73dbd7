"""Serves a small shop's orders, behind a login: what the other examples of this folder work on.

`python -m examples.python.orders` serves it at http://127.0.0.1:8901, for `ana` with the password `casa`.
"""

import threading
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs

PORT: Final = 8901
_COOKIE: Final = "orders=ana"
_STYLE: Final = "<!doctype html><meta charset=utf-8><title>Orders</title><style>td, th { padding: 4px 12px }</style>"
_LOGIN: Final = f"""{_STYLE}<h1>Sign in</h1><form method=post action=/login>
<label>Name <input name=name></label> <label>Password <input name=password type=password></label>
<button>Sign in</button></form>"""
_HEAD: Final = "<tr><th>Order</th><th>Customer</th><th>Total</th><th>Status</th></tr>"
_ROW: Final = "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
_PACK: Final = "<form method=post action=/pack/{0}><button>Pack {0}</button></form>"


class Orders:
    """The shop's orders, and how often each was packed."""

    def __init__(self) -> None:
        customers = ("Ana", "Beto", "Carla", "Dario", "Elsa", "Fito")
        self.all = {f"A{100 + n}": (name, f"{9.5 * (n + 1):.2f}") for n, name in enumerate(customers)}
        self.packed: list[str] = []
        self._lock = threading.Lock()

    def pack(self, order: str) -> None:
        with self._lock:
            self.packed.append(order)

    def page(self) -> str:
        rows = [_ROW.format(order, *about, self._status(order)) for order, about in self.all.items()]
        return f"{_STYLE}<h1>Orders</h1><table>{_HEAD}{''.join(rows)}</table><a href=/orders.csv>Export</a>"

    def csv(self) -> str:
        return "\n".join(["Order,Customer,Total", *(f"{order},{a},{total}" for order, (a, total) in self.all.items())])

    def _status(self, order: str) -> str:
        return "packed" if order in self.packed else _PACK.format(order)


def server(orders: Orders, port: int = 0) -> ThreadingHTTPServer:
    """Make the site's server; port 0 is a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies = SimpleCookie(self.headers.get("cookie", ""))
            if "orders" not in cookies:
                self._reply(_LOGIN)
            elif self.path == "/orders.csv":
                self._reply(orders.csv(), "text/csv", disposition="attachment; filename=orders.csv")
            else:
                self._reply(orders.page())

        def do_POST(self) -> None:
            sent = parse_qs(self.rfile.read(int(self.headers.get("content-length", "0"))).decode())
            if self.path.startswith("/pack/"):
                orders.pack(self.path.removeprefix("/pack/"))
            self.send_response(303)
            self.send_header("location", "/")
            if sent.get("name") == ["ana"] and sent.get("password") == ["casa"]:
                self.send_header("set-cookie", f"{_COOKIE}; HttpOnly; SameSite=Lax")
            self.end_headers()

        def _reply(self, body: str, kind: str = "text/html", disposition: str = "inline") -> None:
            self.send_response(200)
            for name, value in {"content-type": kind, "content-disposition": disposition}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    print(f"http://127.0.0.1:{PORT}, for ana with the password casa")
    server(Orders(), PORT).serve_forever()

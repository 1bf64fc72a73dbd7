"""The fixtures of the gateway's tests."""

from tests.support.standing import _standin, chat, data_dir, gateway, standin

__all__ = ["_standin", "chat", "data_dir", "gateway", "standin"]

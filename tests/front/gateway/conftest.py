"""Provides the fixtures of the gateway's tests."""

from tests.support.standing import _standin, chat, connection, data_dir, standin

__all__ = ["_standin", "chat", "connection", "data_dir", "standin"]

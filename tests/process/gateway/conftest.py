"""Provides the fixtures of the gateway's tests."""

from tests.support.gateway_fixtures import _standin, chat, connection, data_dir, standin

__all__ = ["_standin", "chat", "connection", "data_dir", "standin"]

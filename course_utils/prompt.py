"""An extension of Jupyter's server, which `course lab` loads: messages of kernels leave at once.

TCP holds a small message back until the one before it has been acknowledged, and browsers
acknowledge after 40 ms. A kernel first says that it is busy: so each picture came 40 ms late.
"""

from __future__ import annotations

from typing import Any


def _load_jupyter_server_extension(server: Any) -> None:
    connection: Any = server.kernel_websocket_connection_class

    class Prompt(connection):
        def connect(self) -> Any:
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    server.web_app.settings["kernel_websocket_connection_class"] = Prompt

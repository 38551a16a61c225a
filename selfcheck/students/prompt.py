"""An extension of Jupyter's server, which `course lab` loads: what a kernel says leaves at once.

TCP holds a small message back until the one before has been acknowledged, 40 ms later.
"""

from typing import Any


def _load_jupyter_server_extension(server: Any) -> None:
    connection: Any = server.kernel_websocket_connection_class

    class Prompt(connection):  # type: ignore[misc]  # it comes without types
        def connect(self) -> Any:
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    server.web_app.settings["kernel_websocket_connection_class"] = Prompt

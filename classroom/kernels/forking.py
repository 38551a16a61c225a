"""The warm process: `python -P forking.py SOCKET` loads packages, and forks a kernel for each call.

It ends when its standard input does, and its kernels notice that.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys

# What ipykernel sets before anything is loaded, and what its modules read as they are loaded.
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
os.environ["JPY_PARENT_PID"] = str(os.getpid())

PACKAGES = (
    "ipykernel.kernelapp",
    "ipywidgets",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "matplotlib_inline.backend_inline",
    "mpmath",
    "numpy",
    "PIL.PngImagePlugin",
    "sympy",
)


@functools.cache
def load() -> None:
    """What nearly every notebook of the course loads, but nothing of the course itself."""
    for package in PACKAGES:
        importlib.import_module(package)
    draw()
    gc.freeze()  # so that children do not write into what they share


def draw() -> None:
    """A picture with formulas: fonts and the grammar of formulas are in memory from now on."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(layout="constrained")
    axes = fig.subplots()
    axes.plot([1, 10], label=r"$\gamma^T$")
    axes.set(xscale="log", yscale="log", title="$W$", xlabel="n")
    axes.legend()
    FigureCanvasAgg(fig).draw()


def serve(place: str) -> None:
    """Fork a kernel for each call until there is nobody left who could call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who asked for kernels
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who asked look after them
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        print(flush=True)  # from now on it can be called
        while True:
            ready, *_ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                os._exit(0)
            load()  # by the first call only: a run may need no kernel
            caller, _ = listener.accept()
            with caller:
                size, fds, *_ = socket.recv_fds(caller, 8, 3)
                order = json.loads(caller.recv(int.from_bytes(size), socket.MSG_WAITALL))
                pid = os.fork()
                if pid == 0:
                    listener.close()
                    caller.close()
                    become_kernel(fds, **order)
                handle = os.pidfd_open(pid)
                socket.send_fds(caller, [pid.to_bytes(8)], [handle])
                for fd in (handle, *fds):
                    os.close(fd)


def become_kernel(fds: list[int], arguments: list[str], env: dict[str, str], cwd: str) -> None:
    """In the child: be what `python -m ipykernel_launcher ARGUMENTS` would be."""
    os.setsid()
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:0] = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]
    from ipykernel import kernelapp

    sys.argv = ["ipykernel_launcher", *arguments]
    try:
        kernelapp.launch_new_instance()
    finally:
        atexit._run_exitfuncs()
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])

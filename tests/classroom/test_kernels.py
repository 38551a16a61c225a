"""kernels/: a kernel that begins warm is a kernel like any other, and leaves nothing behind."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

from classroom.kernels import SOCKET, warm
from classroom.threads import ONE_THREAD
from selfcheck.students.cli import LAB_CONFIG

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system cannot do it")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[tuple]:
    """A warm kernel with variables, a folder and a stream of its own."""
    variables = os.environ | {"PYTHONPATH": str(folder), "ONLY_HERE": "yes"}
    with (folder / "words").open("wb") as words:
        manager, client = start_new_kernel(cwd=str(folder), env=variables, stderr=words)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def said(kernel: tuple, code: str) -> str:
    """What the kernel prints when it runs this code, with the name of an error."""
    words = []

    def hear(message: dict) -> None:
        words.append(message["content"].get("text", "") + message["content"].get("ename", ""))

    kernel[1].execute_interactive(code, output_hook=hear)
    return "".join(words)


def test_it_has_the_packages_of_the_course_and_nothing_of_the_course(kernel):
    loaded = said(kernel, "import sys; print({'sympy', 'matplotlib', 'numpy'} <= {*sys.modules})")
    assert loaded == "True\n"
    names = "('course_utils', 'classroom')"  # selfcheck.notebook watches kernels of .venv
    assert said(kernel, f"print([name for name in {names} if name in sys.modules])") == "[]\n"


def test_it_is_this_python_in_its_own_folder_with_its_own_variables_and_streams(kernel, folder):
    (folder / "beside.py").write_text("HERE = 1\n")
    assert said(kernel, "import sys; print(sys.executable)") == f"{sys.executable}\n"
    assert (
        said(kernel, "import os; print(os.getcwd(), os.environ['ONLY_HERE'])") == f"{folder} yes\n"
    )
    assert said(kernel, "import beside; print(beside.HERE)") == "1\n"
    said(kernel, "os.write(2, b'heard')")
    assert (folder / "words").read_bytes().endswith(b"heard")


def test_it_draws_alike_whatever_settings_somebody_has(kernel):
    code = "import matplotlib; print(matplotlib.matplotlib_fname())"
    assert said(kernel, code) == f"{os.devnull}\n"


def test_it_can_start_programs_and_learns_how_they_end(kernel):
    code = "import subprocess; print(subprocess.run([sys.executable, '-c', 'exit(3)']).returncode)"
    assert said(kernel, f"import sys; {code}") == "3\n"


def test_it_heeds_an_interrupt(kernel):
    manager, client = kernel
    client.execute("print('begun', flush=True)\nwhile True: pass", stop_on_error=False)
    while client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
        pass
    manager.interrupt_kernel()
    while (message := client.get_iopub_msg(timeout=60))["msg_type"] != "error":
        pass
    assert message["content"]["ename"] == "KeyboardInterrupt"
    assert said(kernel, "print('goes on')").endswith("goes on\n")


def test_its_end_is_noticed(folder):
    manager, client = start_new_kernel(cwd=str(folder))
    assert manager.is_alive()
    client.execute("import os; os._exit(1)")
    assert manager.provisioner.process.wait() == 0
    assert not manager.is_alive()
    client.stop_channels()
    manager.cleanup_resources()


def started(**options) -> tuple:
    """A manager with a kernel that was started as told, and its client."""
    manager = KernelManager()
    manager.kernel_spec.argv = options.pop("argv", manager.kernel_spec.argv)
    manager.start_kernel(**options)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    return manager, client


def test_another_kernel_than_this_python_or_without_a_warm_process_starts_as_ever(
    folder, monkeypatch
):
    other = [sys.executable, "-I", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernels = [started(cwd=str(folder), argv=other)]
    monkeypatch.setenv(SOCKET, str(folder / "nobody"))  # as if it had died
    kernels.append(started(cwd=str(folder)))
    for manager, client in kernels:
        loaded = said((manager, client), "import sys; print('matplotlib' in sys.modules)")
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        assert loaded == "False\n"


def test_the_warm_process_and_its_socket_end_with_the_block(monkeypatch):
    monkeypatch.delenv(SOCKET)
    monkeypatch.delenv("JUPYTER_DEFAULT_PROVISIONER_NAME")
    with warm():
        place = Path(os.environ[SOCKET])
        assert place.is_socket()
        with warm():  # one is enough
            assert os.environ[SOCKET] == str(place)
    assert SOCKET not in os.environ
    assert not place.parent.exists()


def test_a_kernel_of_the_course_computes_in_one_thread_here_and_in_jupyterlab(kernel):
    in_lab = json.loads((LAB_CONFIG / "kernels" / "python3" / "kernel.json").read_text())
    assert in_lab["env"] == ONE_THREAD
    assert said(kernel, "import os; print(os.environ['OPENBLAS_NUM_THREADS'])") == "1\n"

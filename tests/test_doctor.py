"""doctor.py: every probe can say yes, and can say no with a remedy."""

import socket
import sys
import tempfile
from importlib import metadata

import pytest

from selfcheck.course import course_in
from selfcheck.students import doctor
from selfcheck.students.doctor import Finding
from tests.places import begin_course


def test_a_finding_is_one_line_and_a_failed_one_has_its_remedy_below():
    assert str(Finding(True, "Python 3.12.1", "unused")) == "[ ok ] Python 3.12.1"
    assert str(Finding(False, "no port", "Close one.")) == "[fail] no port\n       Close one."


def test_this_python_will_do():
    assert doctor.python_version().ok


def test_an_old_python_will_not_do(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    finding = doctor.python_version()
    assert not finding.ok
    assert finding.what == "Python 3.10.2"
    assert "3.11" in finding.remedy


def test_the_requirements_are_those_of_judging_notebooks_and_figures():
    names = {requirement.split(">")[0] for requirement in doctor.requirements()}
    assert {"jupyterlab", "matplotlib", "numpy", "sympy"} <= names
    assert "ruff" not in names


def test_a_course_that_is_not_installed_is_a_finding(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    monkeypatch.setattr(metadata, "version", missing)
    findings = [doctor.package(requirement) for requirement in doctor.requirements()]
    assert [(f.ok, f.what) for f in findings] == [(False, "selfcheck is not installed")]


@pytest.mark.parametrize(
    ("version", "ok"), [("2.0", True), ("2.4.6", True), ("3.0rc1", True), ("1.26.4", False)]
)
def test_a_package_must_be_within_its_bounds(monkeypatch, version, ok):
    monkeypatch.setattr(metadata, "version", lambda name: version)
    finding = doctor.package("numpy>=2.0")
    assert (finding.ok, finding.what) == (ok, f"numpy {version} (numpy>=2.0)")
    assert "make lab" in finding.remedy


@pytest.mark.parametrize("there", [True, False])
def test_the_widgets_extension_is_looked_for_where_jupyterlab_looks(tmp_path, monkeypatch, there):
    folder = tmp_path / "labextensions" / "@jupyter-widgets" / "jupyterlab-manager"
    folder.mkdir(parents=True)
    if there:
        (folder / "package.json").touch()
    monkeypatch.setattr(
        "jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path.joinpath(*parts))]
    )
    assert doctor.widgets_extension().ok == there


class FakeKernel:
    """A kernel that answers as it is told; stands for the manager and for the client."""

    def __init__(self, **content):
        self.content, self.ended = content, 0

    def execute_interactive(self, code, **options):
        return {"content": self.content}

    def end(self, **options):
        self.ended += 1

    stop_channels = shutdown_kernel = end


def probe_kernel(monkeypatch, **content):
    fake = FakeKernel(**content)
    monkeypatch.setattr("jupyter_client.manager.start_new_kernel", lambda **options: (fake, fake))
    finding = doctor.kernel("course_utils")
    assert fake.ended == 2
    return finding


def answer(prefix):
    return {"prefix": {"data": {"text/plain": repr(str(prefix))}}}


@pytest.mark.slow
def test_a_real_kernel_of_this_environment_is_found():
    assert doctor.kernel("course_utils") == Finding(
        True, "kernel python3 starts and imports course_utils"
    )


def test_a_kernel_without_the_course_is_told(monkeypatch):
    finding = probe_kernel(monkeypatch, status="error", ename="ModuleNotFoundError")
    assert not finding.ok
    assert "ModuleNotFoundError" in finding.what


def test_a_kernel_of_another_python_is_told(monkeypatch, tmp_path):
    finding = probe_kernel(monkeypatch, status="ok", user_expressions=answer(tmp_path))
    assert not finding.ok
    assert str(tmp_path) in finding.what


def test_a_folder_that_takes_files_is_fine(tmp_path):
    assert doctor.write_permission(tmp_path).ok


def test_a_folder_that_takes_no_files_is_told(tmp_path, monkeypatch):
    def refuse(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    finding = doctor.write_permission(tmp_path)
    assert not finding.ok
    assert "Permission denied" in finding.what
    assert "folder of your own" in finding.remedy


def test_the_first_port_that_is_free_is_named(monkeypatch):
    with socket.socket() as taken, socket.socket() as other:
        taken.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
        other.close()
        monkeypatch.setattr(doctor, "PORTS", [taken.getsockname()[1], free])
        assert doctor.free_port() == Finding(True, f"port {free} is free")


def test_when_all_ports_are_taken_one_is_told(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setattr(doctor, "PORTS", [taken.getsockname()[1]])
        finding = doctor.free_port()
    assert not finding.ok
    assert "taken" in finding.what


def test_a_probe_that_breaks_is_a_finding_and_the_others_go_on(tmp_path, monkeypatch):
    def explode(package):
        raise RuntimeError("no kernel")

    explode.__name__ = "kernel"
    monkeypatch.setattr(doctor, "kernel", explode)
    findings = list(doctor.examine(course_in(begin_course(tmp_path))))
    broken = [finding for finding in findings if not finding.ok]
    assert [finding.what for finding in broken] == ["kernel: RuntimeError: no kernel"]
    assert "make clean" in broken[0].remedy
    assert findings[-1].what.startswith("port")

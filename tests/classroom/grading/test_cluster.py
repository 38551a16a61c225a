"""Grading on a Dask cluster: the same grades as here, and a killed worker loses nothing."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from classroom.grading import handing_out
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.options import Options
from classroom.grading.pipeline import Done, grade
from selfcheck.files import CourseError
from tests.classroom.grading.making import ROOT, UNIT, hand_in, solved

distributed = pytest.importorskip("distributed")
# What distributed itself has to say, about ports, its event loop and workers that are gone.
pytestmark = pytest.mark.filterwarnings("ignore")

SIZE = 12


@pytest.fixture(scope="module")
def cluster(bubblewrap) -> Iterator["distributed.LocalCluster"]:
    """Two worker processes of one thread each."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def a_class(tmp_path_factory) -> Path:
    """A dozen submissions, each third one with a mistake, one that ends its process."""
    folder = tmp_path_factory.mktemp("class")
    for number in range(SIZE):
        answers = {"leak": "bound = M"} if number % 3 == 0 else {}
        answers = {"leak": "import os; os._exit(1)"} if number == 5 else answers
        hand_in(folder, f"student{number:02}", solved(**answers))
    return folder


def points(folder: Path) -> dict[str, list[int]]:
    """The points of everyone, exercise by exercise."""
    with Gradebook(folder / NAME) as book:
        return {g.student: [result.earned for result in g.results] for g in book.all()}


@pytest.fixture(scope="module")
def here(a_class, tmp_path_factory, bubblewrap) -> dict[str, list[int]]:
    """The grades as this machine gives them."""
    folder = tmp_path_factory.mktemp("here")
    grade(ROOT, a_class, folder, Options(unit=UNIT, jobs=2), lambda done: None)
    return points(folder)


def test_a_cluster_gives_the_same_grades_also_if_a_worker_is_killed_on_the_way(
    a_class, cluster, here, tmp_path
):
    killed = []

    def kill_one(done: Done) -> None:
        if done.number == 2:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    options = Options(unit=UNIT, scheduler=cluster.scheduler_address)
    run = grade(ROOT, a_class, tmp_path, options, kill_one)
    assert killed
    assert run.graded == SIZE
    assert len(here) == SIZE
    assert points(tmp_path) == here


def test_a_scheduler_that_is_not_there_gets_a_sentence(a_class, tmp_path, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(Client, "__init__", _nobody)
    options = Options(unit=UNIT, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(CourseError, match="There is no Dask scheduler"):
        grade(ROOT, a_class, tmp_path, options, lambda done: None)


def _nobody(*args, **kwargs):
    raise OSError("nobody answers")


def test_a_scheduler_that_dies_on_the_way_gets_a_sentence_and_loses_nothing(
    a_class, tmp_path, monkeypatch, bubblewrap
):
    real, cluster = handing_out._submit, handing_out._cluster
    begun = []

    def lost_after_three(*args):
        begun.append(args)
        if len(begun) <= 4:  # the solution, and three submissions
            return real(*args)
        future = Future()
        future.set_exception(CancelledError())
        return future

    @contextmanager
    def threads(address):
        with ThreadPoolExecutor(1) as executor:
            yield SimpleNamespace(get_executor=lambda pure: executor, run=lambda f: f())

    monkeypatch.setattr(handing_out, "_submit", lost_after_three)
    monkeypatch.setattr(handing_out, "_cluster", threads)
    options = Options(unit=UNIT, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(CourseError, match=r"scheduler at tcp://\S+ is gone; \d of 12 are graded"):
        grade(ROOT, a_class, tmp_path, options, lambda done: None)
    monkeypatch.setattr(handing_out, "_submit", real)
    monkeypatch.setattr(handing_out, "_cluster", cluster)
    run = grade(ROOT, a_class, tmp_path, Options(unit=UNIT), lambda done: None)
    assert run.graded + run.unchanged == SIZE

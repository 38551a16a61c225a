"""`course review`: the queue *look by hand* as a page on this machine, for the keyboard first.

The server listens on 127.0.0.1 alone, and answers only who has the token of its address. Whatever a
student wrote is text on the page; the page runs one script, its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import webbrowser
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from selfcheck.files import CourseError

from .outputs import write_outputs
from .queue import Answer, Queue
from .student_pages import TEMPLATES, render

HERE = "127.0.0.1"
NEIGHBORS = 12  # of the queue, shown on each side of the one at hand
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LONGEST = 100_000  # characters of a decision


def serve(folder: Path, unit: str | None = None, port: int = 0, browser: bool = True) -> int:
    """Show the queue until Ctrl-C, then write the pages of the class anew if something changed."""
    queue = Queue(folder, unit)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(queue, port, browser))
    finally:
        queue.close()
    if queue.decisions:
        write_outputs(folder)
        print(f"\n{queue.decisions} decided; the pages in {folder} are written anew.")
    return 0


async def _serve(queue: Queue, port: int, browser: bool) -> None:
    token = secrets.token_urlsafe(32)
    try:
        sockets = bind_sockets(port, HERE)
    except OSError as error:
        raise CourseError(f"Port {port} cannot be used: {error}. Leave out --port.") from None
    port = sockets[0].getsockname()[1]
    server = HTTPServer(application(queue, token, port), max_buffer_size=1 << 20)
    server.add_sockets(sockets)
    address = f"http://{HERE}:{port}/?token={token}"
    print(f"Review: {address}\nCtrl-C ends it.", flush=True)
    if browser:
        webbrowser.open(address)
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


def application(queue: Queue, token: str, port: int) -> Application:
    """The pages of the queue, for whoever has the token."""
    about = {"queue": queue, "token": token, "port": port}
    return Application(
        [
            (r"/", _Start, about),
            (r"/review\.js", _Script, about),
            (r"/item/(\w{16})", _Item, about),
            (r"/decide/(\w{16})", _Decide, about),
        ],
        log_function=lambda handler: None,
    )


class _Handler(RequestHandler):
    """What holds for every request: it comes from here, from this page, with the token."""

    def initialize(self, queue: Queue, token: str, port: int) -> None:
        self.queue, self.token, self.port = queue, token, port

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        if self.request.host not in (f"{HERE}:{self.port}", f"localhost:{self.port}"):
            raise HTTPError(403)  # another site's name that leads here
        if not self._is_known(self._shown_token()):
            raise HTTPError(403)

    def _shown_token(self) -> str:
        return self.get_cookie(self._cookie) or ""

    @property
    def _cookie(self) -> str:
        return f"course-review-{self.port}"

    def _is_known(self, shown: str) -> bool:
        return secrets.compare_digest(shown.encode(), self.token.encode())

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        says = {403: "Open the address that `course review` printed.", 404: "Not in the queue."}
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(says.get(status_code, "That did not work."))


class _Start(_Handler):
    """Where the printed address leads: keeps the token in a cookie, then goes to the queue."""

    def _shown_token(self) -> str:
        return self.get_query_argument("token", "") or super()._shown_token()

    def get(self) -> None:
        """To the first answer that nobody has decided about."""
        if self.get_query_argument("token", ""):
            self.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict")
            self.redirect("/")
            return
        places = self.queue.places()
        if not places:
            self.finish(render("review", answer=None, key="", token=""))
            return
        undecided = (p for p in places if not self.queue.answer(p).is_decided)
        self.redirect(f"/item/{next(undecided, places[0]).key}")


class _Script(_Handler):
    """The one script of the page."""

    def get(self) -> None:
        """The file as it is."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((TEMPLATES / "review" / "review.js").read_bytes())


class _Item(_Handler):
    """One answer, with what leads to the verdict and a form for a person's own."""

    def get(self, key: str) -> None:
        """The page."""
        place = self.queue.find(key)
        if place is None:
            raise HTTPError(404)
        places = self.queue.places()
        number = places.index(place)
        near = range(max(0, number - NEIGHBORS), min(len(places), number + NEIGHBORS + 1))
        answers = {k: self.queue.answer(places[k]) for k in near}
        done = sum(self.queue.answer(p).is_decided for p in places)
        self.finish(
            render(
                "review",
                answer=answers[number],
                near=list(answers.values()),
                number=number + 1,
                of=len(places),
                done=done,
                before=places[max(0, number - 1)].key,
                after=places[min(len(places) - 1, number + 1)].key,
                family=_family(answers[number]),
                key=key,
                token=self.token,
            )
        )


def _family(answer: Answer) -> dict[str, Any] | None:
    """What there is to say about the families that the answer belongs to."""
    if not answer.families:
        return None
    misses = [f"{f.heading}: {f.miss}" for f in answer.families if f.miss]
    return {"others": answer.others, "misses": misses, "names": [f.name for f in answer.families]}


class _Decide(_Handler):
    """A decision, as JSON; it comes with the token in a header, which no other site can send."""

    def prepare(self) -> None:
        super().prepare()
        if not self._is_known(self.request.headers.get("X-Token", "")):
            raise HTTPError(403)

    def post(self, key: str) -> None:
        """Write it into the gradebook, and say what was written or what is wrong with it."""
        place = self.queue.find(key)
        if place is None:
            raise HTTPError(404)
        try:
            said = _decision(self.request.body)
            if said["drop"]:
                self.queue.drop(place)
                count, says = 1, "Dropped: the check's points count."
            else:
                count = self.queue.decide(place, said["points"], said["comment"], said["family"])
                says = f"Saved for {count} students." if count > 1 else "Saved."
        except CourseError as problem:
            self.set_status(400)
            self.finish({"says": _for_a_page(str(problem))})
            return
        self.finish({"says": says, "count": count})


def _for_a_page(problem: str) -> str:
    """The sentence without the options of the command line."""
    if "--reason" in problem or "--comment" in problem:
        return "Points need a comment: the student will read why. Without points, write a comment."
    return problem


def _decision(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise CourseError("This is no decision.")
    points, comment = data.get("points"), data.get("comment", "")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int | float)):
        raise CourseError("Points are a number, in halves.")
    if not isinstance(comment, str) or len(comment) > LONGEST:
        raise CourseError("The comment is too long.")
    return {
        "points": None if points is None else float(points),
        "comment": comment,
        "family": data.get("family") is True,
        "drop": data.get("drop") is True,
    }

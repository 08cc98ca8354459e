"""Chromium from Python: a driver process that speaks JSON lines, its pages, and what every page is held to.

A page is awaited by its state (`main[data-state]`), never by time. `Page.check` is what must hold in every
state; `Page.judge` is what must hold of all that a page has done.
"""
import json
import os
import subprocess
import threading
import urllib.parse
from pathlib import Path

from lib.shop import eventually

HERE = Path(__file__).resolve().parent
SHOTS = HERE.parents[1] / "build" / "browser" / "screenshots"
LANGUAGES = {"en": "en-US", "zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}  # the page's, and a browser's that prefers it
VIEWPORT = {"width": 1024, "height": 768}
ANSWER_S_MAX = 150
TABS_MAX = 40


class Driver:
    """One Chromium. Calls are answered in the order in which they are made."""

    def __init__(self, node_modules: Path, chromium: str):
        self._process = subprocess.Popen(
            ["node", HERE / "driver.cjs", json.dumps({"chromium": chromium})], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "NODE_PATH": str(node_modules)})
        self._last = 0
        self.version = self._answer(0)

    def __call__(self, what: str, **given):
        self._last += 1
        self._process.stdin.write(json.dumps({"id": self._last, "do": what, "with": given}) + "\n")
        self._process.stdin.flush()
        return self._answer(self._last)

    def _answer(self, number: int):
        watchdog = threading.Timer(ANSWER_S_MAX, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        assert line, "the driver has ended"
        answer = json.loads(line)
        assert answer["id"] == number, answer
        assert "error" not in answer, answer["error"]
        return answer["is"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(ANSWER_S_MAX)
        self._process.stdout.close()


class Page:
    """A tab. `origins` are the only places that it may ask.

    `patience` is how many times longer than it should it waits before it gives up, or does what can still be taken
    back: for what is looked at, or done elsewhere, while it waits.
    """

    def __init__(self, driver: Driver, language: str = "en", origins=(), beside: "Page" = None, cookie: dict = None,
                 clock_shift_ms: int = 0, chance: float = None, patience: int = 1, **options):
        self.driver, self.language, self.origins = driver, language, set(origins)
        self._expected = set()
        self.number = driver("open", beside=beside and beside.number, cookie=cookie, clock_shift_ms=clock_shift_ms,
                             chance=chance, patience=patience,
                             options={"locale": LANGUAGES[language], "viewport": VIEWPORT, **options})

    def __call__(self, what: str, **given):
        return self.driver(what, page=self.number, **given)

    def goto(self, url: str) -> dict:
        self.origins.add(origin_of(url))
        return self("goto", url=url)

    def click(self, selector: str) -> None:
        self("click", selector=selector)

    def settle(self) -> None:
        """Waits until the page of an open sale has asked for all that it asks for by itself, and has the answers."""
        eventually("the clock is set", lambda: len([one for one in self.requests("GET", "/v1/time") if one["status"]]) == 3)

    def press_before(self, act) -> None:
        """Presses the button. The purchase comes to the server after `act`, of which the page cannot hear before."""
        self.settle()
        self.interfere("POST", "/purchases", "hold")
        self.click("#buy")
        self.until("sending")
        act()
        self("release", ending="/purchases")

    def focus(self, selector: str) -> None:
        """By the keyboard: tabs until it has the focus."""
        for _ in range(TABS_MAX):
            self("press", key="Tab")
            if self.evaluate("return document.activeElement.matches(argument)", selector):
                return
        raise AssertionError(f"the keyboard never gets to {selector}")

    def wait(self, selector: str, state: str = "attached") -> None:
        self("wait", selector=selector, state=state)

    def until(self, *states: str) -> str:
        """Waits for one of these states and says which it is."""
        try:
            self.wait(", ".join(f'main[data-state="{state}"]' for state in states))
        except AssertionError as fault:
            now = self.evaluate("return [document.querySelector('main').dataset.state, document.body.innerText]")
            raise AssertionError(f"not {states} but {now[0]}: {now[1]}\n{self.log()}\n{fault}") from None
        return self.state

    @property
    def state(self) -> str:
        return self.evaluate("return document.querySelector('main').dataset.state")

    @property
    def url(self) -> str:
        return self("url")

    def text(self, selector: str) -> str:
        return self("text", selector=selector).strip()

    def evaluate(self, body: str, argument=None):
        """`body` is that of a function of `argument`."""
        return self("evaluate", expression=body, argument=argument)

    def wait_true(self, body: str, argument=None) -> None:
        self("wait_true", expression=body, argument=argument)

    def interfere(self, method: str, ending: str, *steps) -> None:
        """A step is the name of one, or what comes in place of the server's answer."""
        self("interfere", method=method, ending=ending,
             steps=[{"step": step} if isinstance(step, str) else {"step": "answer", **step} for step in steps])

    def storage(self) -> dict:
        return self("storage")

    def requests(self, method: str = None, ending: str = "") -> list:
        """What went over the network: a blob or a data URL did not."""
        return [one for one in self("seen")["requests"] if one["url"].startswith("http")
                and (method is None or one["method"] == method)
                and urllib.parse.urlsplit(one["url"]).path.endswith(ending)]

    def log(self) -> list:
        return self("seen")["log"]

    def expect(self, *what) -> None:
        """Failures that belong to the story: a status, or "lost" for requests without an answer."""
        self._expected.update(what)

    def judge(self) -> None:
        """No word of any script on the console, no violation of the policy, no other origin, no failure unforeseen."""
        seen = self("seen")
        assert seen["violations"] == [], seen["violations"]
        spoken = [entry for entry in seen["log"] if entry["source"] != "network"]
        assert spoken == [], spoken
        for one in seen["requests"]:
            url = urllib.parse.urlsplit(one["url"])
            assert url.scheme in ("blob", "data") or origin_of(one["url"]) in self.origins, one["url"]
            # A status is an answer, also where nobody read the body; what a page that went away no longer waits for is
            # no failure.
            if (status := one["status"]) is not None:
                assert status < 400 or status in self._expected, (one["method"], one["url"], status)
            elif one["failed"] not in (None, "net::ERR_ABORTED"):
                assert "lost" in self._expected, (one["method"], one["url"], one["failed"])

    def check(self, state: str, name: str = None) -> None:
        """What holds in every state; `name` is that of the picture, if it is not the state's."""
        self.until(state)
        self.look(name or state)
        assert self.state == state, f"{state} did not stay while it was looked at"

    def look(self, name: str) -> None:
        """What holds for every page: its language, no rule of axe broken by day or by night, room on a small screen."""
        self.judge()
        assert self.evaluate("return document.documentElement.lang") == self.language
        SHOTS.mkdir(parents=True, exist_ok=True)
        self("screenshot", path=str(SHOTS / f"{name}-{self.language}.png"))
        self._axe()
        self("viewport", width=320, height=640)
        wide = self.evaluate("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"{name} scrolls sideways at 320 pixels: {wide}"
        if self.language == "en":
            self("media", colorScheme="dark")
            self._axe()
            self("screenshot", path=str(SHOTS / f"{name}-small-dark.png"))
            self("media", colorScheme="light")
        self("viewport", **VIEWPORT)

    def _axe(self) -> None:
        found = self("axe")
        assert found["rules"] > 90 and found["violations"] == [], json.dumps(found, indent=1, ensure_ascii=False)

    def close(self) -> None:
        self("close")


def origin_of(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"

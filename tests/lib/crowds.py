"""Several crowds of buyers (buyers.py), each a process of its own, told and heard over pipes."""
import multiprocessing
import multiprocessing.connection
from pathlib import Path

from lib.buyers import crowd_process

WORD_S_MAX = 120  # whoever waits for an answer gives up on it first


class Crowds:
    def __init__(self, plans: list):
        self._crowds = []
        context = multiprocessing.get_context("spawn")
        for plan in plans:
            Path(plan.history).touch()
            ours, theirs = context.Pipe()
            process = context.Process(target=crowd_process, args=(plan, theirs), daemon=True)
            process.start()
            theirs.close()
            self._crowds.append((process, ours))

    def tell(self, *words) -> None:
        for _, pipe in self._crowds:
            pipe.send(words)

    def hear(self, word: str) -> None:
        """Waits until every crowd has said the word."""
        for process, pipe in self._crowds:
            while True:
                if not pipe.poll(WORD_S_MAX):
                    raise AssertionError(f"a crowd never said {word}; alive: {process.is_alive()}")
                if pipe.recv() == word:
                    break

    def hear_first(self, word: str) -> None:
        ready = multiprocessing.connection.wait([pipe for _, pipe in self._crowds], timeout=WORD_S_MAX)
        assert ready and ready[0].recv() == word, f"no crowd said {word}"

    def kill(self) -> None:
        for process, _ in self._crowds:
            process.kill()
            process.join()

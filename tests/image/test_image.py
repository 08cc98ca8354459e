"""The picture check against a real reader: tesseract fails at it, and reads the same text undistorted.

The second half is what makes the first one mean something: a reader that reads nothing proves nothing.
"""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("DOORBUSTER_BINARY", "build/release/doorbuster")).resolve().parent
SHEET = BUILD / "doorbuster-image-sheet"
ALPHABET = "CEHKNPRTUXY349"
COUNT = 200


def draw(folder: Path, distortion: str, seed: int = 7) -> list:
    subprocess.run([SHEET, "pictures", folder, str(COUNT), str(seed), distortion], check=True)
    return (folder / "answers.txt").read_text().split()


def read(folder: Path) -> list:
    """What tesseract reads in each picture, given every help: one word, of these characters."""
    listing = folder / "list.txt"
    listing.write_text("\n".join(str(folder / f"{i}.png") for i in range(COUNT)))
    result = subprocess.run(
        ["tesseract", str(listing), "-", "--psm", "8", "-c", f"tessedit_char_whitelist={ALPHABET}"],
        capture_output=True, text=True, check=True, env={**os.environ, "OMP_THREAD_LIMIT": "1"})
    pages = result.stdout.removesuffix("\f").split("\f")
    assert len(pages) == COUNT, "a picture without its page would shift all that follow"
    return ["".join(page.split()).upper() for page in pages]


def share_read(folder: Path, distortion: str) -> float:
    answers = draw(folder, distortion)
    assert len(answers) == COUNT and len(set(answers)) > COUNT * 0.9
    assert all(len(answer) == 6 and set(answer) <= set(ALPHABET) for answer in answers)
    right = sum(seen == answer for seen, answer in zip(read(folder), answers))
    print(f"tesseract reads {right} of {COUNT} ({distortion})")
    return right / COUNT


@pytest.fixture(autouse=True)
def tesseract():
    assert shutil.which("tesseract"), "the package tesseract-ocr is missing"
    assert SHEET.exists(), f"{SHEET} is not built"


def test_a_program_reads_the_text_undistorted(tmp_path):
    assert share_read(tmp_path, "none") > 0.80


def test_a_program_does_not_read_the_pictures(tmp_path):
    assert share_read(tmp_path, "full") < 0.05


def test_the_pictures_are_small(tmp_path):
    draw(tmp_path, "full")
    assert max(picture.stat().st_size for picture in tmp_path.glob("*.png")) <= 6000


def test_a_contact_sheet_is_left_for_people_to_read():
    """Twenty pictures and their answers, beside the program that drew them."""
    subprocess.run([SHEET, "contact", BUILD / "image-sheet", "21"], check=True)
    assert (BUILD / "image-sheet" / "contact.png").stat().st_size > 10_000
    assert len((BUILD / "image-sheet" / "contact.txt").read_text().split()) == 20

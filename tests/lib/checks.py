"""Passes human checks as a buyer's browser does: proof of work in the ALTCHA form."""
import base64
import hashlib
import json

from lib.client import Answer, Client
from lib.shop import eventually


def ask(buyer: Client, sale: str, kind: str = None) -> dict:
    answer = buyer.post(f"/v1/sales/{sale}/challenges", {"kind": kind} if kind else None)
    assert answer.status == 200, answer.body
    return answer.json


def ask_for_picture(buyer: Client, sale: str) -> dict:
    """While none is drawn yet, work is offered in its place."""
    def probe():
        check = ask(buyer, sale)
        return check if check["kind"] == "image" else None
    return eventually("a picture is drawn", probe)


def solve(challenge: dict) -> int:
    """Counts up, as the widget does; bounded by the challenge itself."""
    wanted, salted = challenge["challenge"], hashlib.sha256(challenge["salt"].encode())
    for number in range(challenge["maxnumber"] + 1):
        attempt = salted.copy()
        attempt.update(str(number).encode())
        if attempt.hexdigest() == wanted:
            return number
    raise AssertionError(f"no number up to {challenge['maxnumber']} solves {challenge}")


def payload(challenge: dict, number, /, **changes) -> str:
    """What the widget puts into its form field. `changes` spoil it; None removes a member."""
    said = {"algorithm": challenge["algorithm"], "challenge": challenge["challenge"], "number": number,
            "salt": challenge["salt"], "signature": challenge["signature"], "took": 7, **changes}
    said = {name: value for name, value in said.items() if value is not None}
    return base64.b64encode(json.dumps(said).encode()).decode()


def answered(buyer: Client, sale: str, answer: str, item: str = "phone", **more) -> Answer:
    return buyer.post(f"/v1/sales/{sale}/tokens", {"item": item, "answer": answer, **more})


def token_for(buyer: Client, sale: str, item: str = "phone") -> str:
    """A purchase token, honestly come by."""
    challenge = ask(buyer, sale)
    challenge = challenge.get("pow", challenge)  # beside an image the work is always offered
    answer = answered(buyer, sale, payload(challenge, solve(challenge)), item)
    assert answer.status == 200, answer.body
    return answer.json["token"]

"""The OpenAPI document is closed: what the session has heard, spoilt in any way, is refused by it."""
import copy

import pytest

# These say more where there is more to say; every other field is always there.
OPTIONAL_IN_A_PROBLEM = {"detail", "errors", "purchase"}


def spoilt(body, content_type, path="", is_root=True):
    """Every way to drop one field or to add one, at any depth: (what, the spoilt body)."""
    if isinstance(body, dict):
        for name in body:
            if not (is_root and content_type == "application/problem+json" and name in OPTIONAL_IN_A_PROBLEM):
                yield f"{path}/{name} dropped", {key: value for key, value in body.items() if key != name}
        yield f"{path}/surprise added", {**body, "surprise": 1}
        for name, value in body.items():
            for what, changed in spoilt(value, content_type, f"{path}/{name}", False):
                yield what, {**body, name: changed}
    elif isinstance(body, list):
        for index, value in enumerate(body[:3]):
            for what, changed in spoilt(value, content_type, f"{path}/{index}", False):
                yield what, [*body[:index], changed, *body[index + 1:]]


@pytest.mark.last
def test_a_field_dropped_or_added_in_any_answer_is_noticed(contract):
    if not contract.recorded:
        pytest.skip("nothing was heard yet: run the whole folder")
    unnoticed, tried = [], 0
    for key, (content_type, schema, body) in contract.recorded.items():
        if key[1] == "GET /openapi.json":
            continue  # the document itself is whatever it is
        for what, changed in spoilt(copy.deepcopy(body), content_type):
            tried += 1
            if not contract.errors(schema, changed):
                unnoticed.append(f"{' '.join(map(str, key))}: {what}")
    assert unnoticed == []
    assert tried > 200


@pytest.mark.last
def test_every_call_of_the_document_was_made(contract):
    if not contract.recorded:
        pytest.skip("nothing was heard yet: run the whole folder")
    assert {operation.name for operation in contract.operations} - contract.called == set()

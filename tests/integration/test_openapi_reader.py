"""The reader of the document can say no; a small document of its own shows it."""
import json

import pytest

from lib.client import Answer
from lib.openapi import Contract, Violation

DOCUMENT = {
    "paths": {
        "/v1/things/{thing}": {"get": {"tags": ["public"], "responses": {
            "200": {"headers": {"ETag": {"required": True}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
            "304": {"description": "as before"},
            "404": {"$ref": "#/components/responses/Refused"}}}},
        "/v1/things/{thing}/{verb}": {"post": {"tags": ["admin"], "responses": {"204": {}}}},
    },
    "components": {
        "responses": {"Refused": {"content": {"application/problem+json": {
            "schema": {"$ref": "#/components/schemas/Problem"}}}}},
        "schemas": {
            "Thing": {"type": "object", "additionalProperties": False, "required": ["id"],
                      "properties": {"id": {"type": "string"}}},
            "Problem": {"type": "object", "additionalProperties": False, "required": ["code"],
                        "properties": {"code": {"type": "string"}}},
        },
    },
}


def answer(status, body=None, kind="application/json", **headers):
    content = b"" if body is None else json.dumps(body).encode()
    return Answer(status, {"content-type": kind, **headers}, content)


def problem(status, **headers):
    return answer(status, {"code": "not_found"}, "application/problem+json", **headers)


ALLOWED = [
    ("public", "GET", "/v1/things/a?b=c", answer(200, {"id": "a"}, etag='"1"')),
    ("public", "GET", "/v1/things/a", answer(304)),
    ("public", "HEAD", "/v1/things/a", answer(200, etag='"1"')),
    ("public", "GET", "/v1/things/a", problem(404)),
    ("public", "POST", "/v1/things/a/open", problem(404)),
    ("public", "PUT", "/v1/things/a", problem(405, allow="GET")),
    ("admin", "POST", "/v1/things/a/open", answer(204)),
]
REFUSED = {
    "a status that is not listed": ("public", "GET", "/v1/things/a", problem(409)),
    "a missing field": ("public", "GET", "/v1/things/a", answer(200, {}, etag='"1"')),
    "an extra field": ("public", "GET", "/v1/things/a", answer(200, {"id": "a", "x": 1}, etag='"1"')),
    "a wrong type": ("public", "GET", "/v1/things/a", answer(200, {"id": 1}, etag='"1"')),
    "a missing header": ("public", "GET", "/v1/things/a", answer(200, {"id": "a"})),
    "another content type": ("public", "GET", "/v1/things/a", answer(200, {"id": "a"}, "text/plain", etag='"1"')),
    "a problem told as plain JSON": ("public", "GET", "/v1/things/a", answer(404, {"code": "not_found"})),
    "a body where none was announced": ("public", "GET", "/v1/things/a", answer(304, {"id": "a"})),
    "an admin call answered on the public listener": ("public", "POST", "/v1/things/a/open", answer(204)),
    "a call that is not in the document": ("public", "GET", "/v1/else", answer(200, {"id": "a"})),
    "a 405 that does not say what is allowed": ("public", "PUT", "/v1/things/a", problem(405)),
}


@pytest.fixture
def reader():
    reader = Contract()
    reader.load(DOCUMENT)
    return reader


@pytest.mark.parametrize("listener, method, path, heard", ALLOWED)
def test_what_the_document_says_is_allowed(reader, listener, method, path, heard):
    reader.check(listener, method, path, heard)


@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_a_violation(reader, name):
    with pytest.raises(Violation):
        reader.check(*REFUSED[name])

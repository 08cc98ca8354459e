"""Holds answers against the OpenAPI document that the server itself publishes.

Status, content type and body of every answer must be what the document says. The
answers are kept, so that a last test can spoil each of them and see the document object.
"""
import json
import re
from urllib.parse import urlsplit

import jsonschema

PROBLEM_TYPE = "application/problem+json"


class Violation(AssertionError):
    """An answer that the document does not allow."""


class Operation:
    def __init__(self, template: str, method: str, spoken: dict):
        self.template, self.method, self.spoken = template, method, spoken
        tags = {tag.lower() for tag in spoken.get("tags", [])}
        self.listeners = tags & {"public", "admin"} or {"public", "admin"}
        self.pattern = re.compile("/".join("[^/]+" if "{" in part else re.escape(part)
                                           for part in template.split("/")))
        self.literal_parts = sum("{" not in part for part in template.split("/"))
        self.name = f"{method} {template}"

    def matches_path(self, path: str) -> bool:
        return self.pattern.fullmatch(path) is not None


class Contract:
    def __init__(self):
        self.document = None
        self.operations = []
        self.recorded = {}  # (listener, operation, status, code) -> (content type, schema, JSON body)
        self.called = set()  # names of operations

    def load(self, document: dict) -> None:
        self.document = document
        self._resolver = jsonschema.RefResolver("", document)
        self.operations = [
            Operation(template, method.upper(), spoken)
            for template, path_item in document["paths"].items()
            for method, spoken in path_item.items()
            if method in ("get", "put", "post", "patch", "delete", "head", "options")
        ]

    def check(self, listener: str, method: str, path: str, answer) -> None:
        """Raises Violation unless the document allows this answer to this request."""
        path = urlsplit(path).path
        here = [operation for operation in self.operations
                if operation.matches_path(path) and listener in operation.listeners]
        # `/sales/{sale}/open` and `/sales/{sale}/{verb}` may both match: the more literal one is meant.
        best = max((operation.literal_parts for operation in here), default=0)
        here = [operation for operation in here if operation.literal_parts == best]
        # Where nothing else is said, a HEAD is a GET without its body.
        wanted = (method, "GET") if method == "HEAD" else (method,)
        operation = next((operation for name in wanted for operation in here if operation.method == name), None)
        where = f"{listener} {method} {path} -> {answer.status}"

        if operation is None:
            # Nothing is documented here, so nothing but these refusals may be heard.
            if answer.status not in (400, 401, 404, 405, 413, 431):
                raise Violation(f"{where}: the document knows no such call on this listener")
            if answer.status == 405 and "allow" not in answer.headers:
                raise Violation(f"{where}: a 405 must say what is allowed")
            content = {PROBLEM_TYPE: {"schema": {"$ref": self._problem()}}}
            if (listener, method, answer.status) == ("public", "GET", 404) and not path.startswith("/v1/"):
                content["text/html"] = {"schema": {"type": "string"}}  # for a browser
            self._check_body(where, (listener, f"{method} undocumented", answer.status), method, answer, content)
            return

        self.called.add(operation.name)
        responses = operation.spoken["responses"]
        status = str(answer.status)
        response = responses.get(status, responses.get(f"{status[0]}XX", responses.get("default")))
        if response is None:
            raise Violation(f"{where}: the document lists only {sorted(responses)}")
        response = self._resolved(response)
        for name, header in response.get("headers", {}).items():
            if self._resolved(header).get("required") and name.lower() not in answer.headers:
                raise Violation(f"{where}: the header {name} is missing")
        self._check_body(where, (listener, operation.name, answer.status), method, answer,
                         response.get("content", {}))

    def errors(self, schema: dict, body) -> list:
        validator = jsonschema.Draft202012Validator(schema, resolver=self._resolver)
        return list(validator.iter_errors(body))

    def _check_body(self, where, key, method, answer, content) -> None:
        if method == "HEAD" or not content:
            if answer.body:
                raise Violation(f"{where}: a body that nobody announced: {answer.body[:200]!r}")
            return
        content_type = answer.headers.get("content-type", "").split(";")[0].strip()
        if content_type not in content:
            raise Violation(f"{where}: the content type is {content_type!r}, not one of {sorted(content)}")
        if not content_type.endswith("json"):
            return
        schema = self._narrowed(content[content_type].get("schema", {}), key[0])
        body = json.loads(answer.body)
        errors = self.errors(schema, body)
        if errors:
            raise Violation(f"{where}: {jsonschema.exceptions.best_match(errors).message} in {answer.body[:600]!r}")
        self.recorded.setdefault((*key, body.get("code") if isinstance(body, dict) else None),
                                 (content_type, schema, body))

    @staticmethod
    def _narrowed(schema: dict, listener: str) -> dict:
        """Where both listeners answer a call, the operator's answer is the schema named Admin…, and only that."""
        variants = schema.get("anyOf", schema.get("oneOf"))
        if not variants or not all("$ref" in variant for variant in variants):
            return schema
        def is_admin(variant):
            return variant["$ref"].rsplit("/", 1)[1].startswith("Admin")
        if not any(is_admin(variant) for variant in variants):
            return schema
        return {"anyOf": [variant for variant in variants if is_admin(variant) == (listener == "admin")]}

    def _resolved(self, part: dict) -> dict:
        while "$ref" in part:
            _, part = self._resolver.resolve(part["$ref"])
        return part

    def _problem(self) -> str:
        for name in self.document["components"]["schemas"]:
            if name.lower() == "problem":
                return f"#/components/schemas/{name}"
        raise Violation("the document has no schema named Problem")

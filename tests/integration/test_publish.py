"""`doorbuster publish`: the pages as files, the same bytes that the gate serves, for a CDN or nginx."""
import re

import pytest

from lib.cli import operator_of
from lib.client import Client
from engines.nginx import Nginx
from lib.shop import eventually

API = "https://api.shop.example"


@pytest.fixture
def operator(shop, tmp_path):
    return operator_of(shop.server, tmp_path)


def served(shop, path: str, encoding: str):
    def probe():
        answer = shop.anyone.get(path, headers={"Accept-Encoding": encoding})
        return answer if answer.headers.get("content-encoding", "identity") == encoding else None
    return eventually(f"{path} is there in {encoding}", probe)


def test_the_files_are_what_the_gate_serves(shop, operator, tmp_path):
    sale = shop.open_sale(human_check="pow", title="Phones & <more>")
    done = operator.json("publish", sale, "--out", "site")
    site = tmp_path / "site"
    assert {file["path"] for file in done["files"]} == {
        str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    for path, file in (("/", "index.html"), ("/orders", "orders.html"), (f"/sales/{sale}", f"sales/{sale}.html")):
        for encoding, ending in (("identity", ""), ("gzip", ".gz"), ("br", ".br")):
            assert (site / (file + ending)).read_bytes() == served(shop, path, encoding).body, (path, encoding)
    for name in ("_headers", "nginx.conf"):
        text = (site / name).read_text()
        for path in ("/", f"/sales/{sale}"):
            answer = served(shop, path, "gzip")
            assert answer.headers["content-security-policy"] in text
            assert answer.headers["cache-control"] in text


def test_pages_on_another_origin_differ_in_nothing_but_where_they_call(shop, operator, tmp_path):
    sale = shop.open_sale()
    assert operator("publish", sale, "--out", "here").returncode == 0
    assert operator("publish", sale, "--out", "there", "--api-origin", API).returncode == 0
    here = (tmp_path / "here" / f"sales/{sale}.html").read_text()
    there = (tmp_path / "there" / f"sales/{sale}.html").read_text()
    assert there.replace(f'"api":"{API}"', '"api":""') == here
    policy = re.search(r"/sales/\*\n(?:  .*\n)*?  Content-Security-Policy: (.*)\n",
                       (tmp_path / "there" / "_headers").read_text())[1]
    assert f"connect-src 'self' {API};" in policy


def test_nginx_serves_the_folder_with_the_headers_as_it_stands(shop, operator, tmp_path):
    sale = shop.open_sale()
    assert operator("publish", sale, "--out", "site", "--api-origin", API).returncode == 0
    site = tmp_path / "site"
    with Nginx(tmp_path / "nginx", f"server {{ listen 127.0.0.1:PORT; root {site}; include {site}/nginx.conf; }}").start() as nginx:
        client = Client(nginx.port, "nginx")
        for path, file in (("/", "index.html"), ("/orders", "orders.html"), (f"/sales/{sale}", f"sales/{sale}.html")):
            packed = client.get(path, headers={"Accept-Encoding": "gzip"})
            assert packed.body == (site / (file + ".gz")).read_bytes(), path
            plain = client.get(path)
            assert plain.body == (site / file).read_bytes(), path
            for answer in (packed, plain):
                assert answer.status == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
                assert answer.headers["content-security-policy"] in (site / "_headers").read_text()
                assert "max-age" in answer.headers["cache-control"]
                assert answer.headers["x-content-type-options"] == "nosniff"
            assert "Accept-Encoding" in packed.headers["vary"]
        assert client.get("/sales/another").status == 404
        client.close()


def test_a_second_sale_and_a_second_time_leave_nothing_half_done(shop, operator, tmp_path):
    first, second = shop.open_sale(), shop.open_sale()
    for sale in (first, second, first):
        assert operator("publish", sale, "--out", "site").returncode == 0
    site = tmp_path / "site"
    assert sorted(path.name for path in (site / "sales").glob("*.html")) == sorted(f"{sale}.html" for sale in (first, second))
    assert not list(site.rglob("*.new"))


@pytest.mark.parametrize("words, code, said", [
    (["publish", "no-such-sale", "--out", "site"], 1, "no"),
    (["publish", "Not A Sale", "--out", "site"], 2, "is not a sale's id"),
    (["publish", "drop"], 2, "--out"),
    (["publish", "drop", "--out", "site", "--api-origin", "https://api.example/path"], 2, "is not an origin"),
    (["publish", "drop", "--out", "site", "--api-origin", "https://a\";script-src *"], 2, "is not an origin"),
    (["publish", "drop", "--out", "site", "--api-origin", "ftp://api.example"], 2, "is not an origin")])
def test_what_cannot_be_is_said_plainly(operator, tmp_path, words, code, said):
    done = operator(*words)
    assert (done.returncode, done.stdout) == (code, "") and said in done.stderr
    assert not (tmp_path / "site").exists()


def test_a_draft_is_not_published(shop, operator):
    done = operator("publish", shop.create_sale(state="draft"), "--out", "site")
    assert done.returncode == 1 and "draft" in done.stderr


def test_a_place_that_cannot_be_written_is_named(shop, operator, tmp_path):
    (tmp_path / "site").write_text("a file")
    done = operator("publish", shop.open_sale(), "--out", "site")
    assert done.returncode == 1 and "site" in done.stderr


def test_help_shows_how(operator):
    done = operator("publish", "--help")
    assert done.returncode == 0 and "--api-origin https://api.shop.example" in done.stdout

"""Every command through the real binary: what it prints, and how it ends."""
import json
import os
import stat

import pytest

from lib.cli import Cli, operator_of
from lib.client import Client
from lib.dev import dev_shop
from lib.server import ROOT
from lib.shop import buy, sale_terms

GOOD = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def cli(tmp_path):
    return Cli(tmp_path)


@pytest.fixture
def operator(shop, tmp_path):
    return operator_of(shop.server, tmp_path)


def test_version_and_help(cli):
    assert cli("version").returncode == 0 and cli("version").stdout.strip()
    for arguments in (["--help"], ["serve", "--help"], ["dev", "--help"], ["sale", "--help"],
                      ["sale", "create", "--help"], ["buyer-token", "--help"], ["config", "--help"]):
        done = cli(*arguments)
        assert done.returncode == 0 and "sage" in done.stdout, arguments


@pytest.mark.parametrize("arguments", [["explode"], ["sale"], ["sale", "show"], ["sale", "explode"], ["--nonsense"],
                                       ["buyer-token"], ["sale", "list", "-o", "xml"],
                                       ["sale", "restock", "s", "i", "many"]])
def test_wrong_usage_exits_2(cli, arguments):
    done = cli(*arguments)
    assert done.returncode == 2 and (done.stderr or done.stdout)


def test_a_mistyped_command_is_guessed(cli):
    assert "did you mean" in cli("sevre").stderr.lower()


def test_a_whole_sale_by_command(operator, shop, tmp_path):
    terms = sale_terms()
    sale = terms["id"]
    (tmp_path / "sale.json").write_text(json.dumps(terms))
    assert operator.json("sale", "create", "sale.json")["id"] == sale
    assert operator("sale", "create", "sale.json").returncode == 1
    other = sale_terms()
    assert operator("sale", "create", "-", stdin=json.dumps(other)).returncode == 0
    assert {entry["id"] for entry in operator.json("sale", "list")["sales"]} >= {sale, other["id"]}
    assert operator.json("sale", "show", sale)["title"] == terms["title"]
    operator.json("sale", "warm", sale)
    for verb, state in (("open", "open"), ("pause", "paused"), ("resume", "open")):
        assert operator.json("sale", verb, sale)["state"] == state
    assert operator("sale", "restock", sale, "phone", "5").returncode == 0
    assert operator.json("sale", "status", sale)["items"][0]["units_total"] == 15

    token = operator("buyer-token", "carol").stdout.strip()
    assert buy(shop.public_with(token), sale).status == 202
    assert operator.json("sale", "close", sale)["state"] == "closed"
    for command in (["sale", "list"], ["sale", "show", sale], ["sale", "status", sale]):
        table = operator(*command)
        assert table.returncode == 0 and sale in table.stdout, command


def test_what_the_server_refuses_is_told_in_sentences(operator):
    done = operator("sale", "create", "-", stdin=json.dumps(sale_terms(title="", surprise=1)))
    assert done.returncode == 1 and "/title" in done.stderr and "/surprise" in done.stderr
    assert operator("sale", "create", "-", stdin="not json").returncode == 1
    assert operator("sale", "create", "no-such-file.json").returncode in (1, 2)
    assert operator("sale", "show", "no-such-sale").returncode == 1
    assert operator("sale", "open", "no-such-sale").returncode == 1


def test_a_wrong_key_or_nobody_there_exits_1(operator):
    stranger = Cli(operator.folder, **{**operator.settings, "DOORBUSTER_ADMIN__KEY": "x" * 40})
    done = stranger("sale", "list")
    assert done.returncode == 1 and "not this server's" in done.stderr and "DOORBUSTER_ADMIN__KEY" in done.stderr
    (operator.folder / "wrong-key").write_text("y" * 40 + "\n")
    done = operator("sale", "list", "--admin-key-file", "wrong-key")
    assert done.returncode == 1 and "--admin-key-file wrong-key" in done.stderr
    assert "x" * 40 not in done.stderr and "y" * 40 not in done.stderr
    lost = Cli(operator.folder, **{**operator.settings, "DOORBUSTER_ADMIN__LISTEN": "127.0.0.1:1"})
    done = lost("sale", "list")
    assert done.returncode == 1 and "127.0.0.1:1" in done.stderr


def test_the_key_may_come_from_a_file(operator, shop):
    (operator.folder / "key").write_text(shop.server.admin_key + "\n")
    keyless = Cli(operator.folder, DOORBUSTER_ADMIN__LISTEN=operator.settings["DOORBUSTER_ADMIN__LISTEN"])
    assert keyless("sale", "list", "--admin-key-file", "key").returncode == 0
    done = keyless("sale", "list")
    assert done.returncode == 1 and "data/dev.toml" in done.stderr, "it says where it looked"


def test_a_draft_is_scheduled_by_command(operator, shop):
    sale = shop.create_sale(state="draft")
    done = operator("sale", "warm", sale)
    assert done.returncode == 1 and f"sale schedule {sale}" in done.stderr
    assert operator.json("sale", "schedule", sale)["state"] == "scheduled"
    assert operator.json("sale", "warm", sale)["state"] in ("ready", "open")


def test_there_is_nothing_to_rebuild_in_the_servers_own_memory(operator, shop):
    for more in ([], ["phone"], ["--wait"]):
        done = operator("sale", "rebuild", shop.open_sale(), *more)
        assert done.returncode == 1 and "in its own memory" in done.stderr
    assert "--wait" in operator("sale", "rebuild", "--help").stdout


def test_the_status_tells_the_sales_figures_from_the_servers(operator, shop):
    told = operator("sale", "status", shop.open_sale()).stdout
    assert "this server, since its start" in told


def test_an_unknown_table_is_an_error_also_when_it_is_empty(cli, tmp_path):
    (tmp_path / "doorbuster.toml").write_text("[server]\n[sevrer]\n")
    done = cli("config", "check")
    assert done.returncode == 1 and "[sevrer]" in done.stderr and "did you mean 'server'" in done.stderr


@pytest.mark.parametrize("command", [["serve"], ["dev"], ["config", "check"]])
def test_two_listeners_on_one_place_are_refused(cli, command):
    done = cli(*command, DOORBUSTER_SERVER__LISTEN="0.0.0.0:9180", DOORBUSTER_ADMIN__LISTEN="127.0.0.1:9180",
               DOORBUSTER_ADMIN__KEY=GOOD, DOORBUSTER_IDENTITY__HMAC_SECRET=GOOD)
    assert done.returncode == 1 and "server.listen" in done.stderr and "admin.listen" in done.stderr


def test_no_token_is_made_that_no_server_would_take(operator):
    for buyer in ("a\nb", b"\xff", "\x7f"):
        done = operator("buyer-token", buyer)
        assert done.returncode == 2 and "control characters" in done.stderr, buyer


def test_an_unknown_key_is_an_error_with_a_guess(cli, tmp_path):
    (tmp_path / "doorbuster.toml").write_text('[server]\nlistenn = "127.0.0.1:1"\n')
    done = cli("config", "check")
    assert done.returncode != 0
    assert "did you mean" in done.stderr and "server.listen" in done.stderr
    (tmp_path / "doorbuster.toml").unlink()
    done = cli("config", "check", DOORBUSTER_SERVER__LISTENN="127.0.0.1:1")
    assert done.returncode != 0 and "did you mean" in done.stderr


def test_a_value_out_of_range_names_the_key(cli):
    done = cli("config", "check", DOORBUSTER_SERVER__THREADS="-3")
    assert done.returncode != 0 and "server.threads" in done.stderr


def test_flag_over_environment_over_file(cli, tmp_path):
    (tmp_path / "doorbuster.toml").write_text('[log]\nlevel = "warn"\n[server]\nthreads = 3\nbody_bytes_max = 9000\n')
    printed = cli("config", "print", "--set", "log.level=error", DOORBUSTER_LOG__LEVEL="debug",
                  DOORBUSTER_SERVER__THREADS="2", DOORBUSTER_ADMIN__KEY=GOOD,
                  DOORBUSTER_IDENTITY__HMAC_SECRET=GOOD).stdout
    lines = {line.split()[0]: line for line in printed.splitlines() if line.strip()}
    assert "error" in lines["log.level"] and "debug" not in lines["log.level"]
    assert "2" in lines["server.threads"] and "9000" in lines["server.body_bytes_max"]


def test_secrets_are_never_printed(cli, tmp_path):
    (tmp_path / "secret").write_text("fedcba9876543210fedcba9876543210\n")
    for more in ([], ["-o", "json"]):
        done = cli("config", "print", *more, DOORBUSTER_ADMIN__KEY=GOOD,
                   DOORBUSTER_IDENTITY__HMAC_SECRET_FILE=str(tmp_path / "secret"))
        assert done.returncode == 0, done.stderr
        assert GOOD not in done.stdout + done.stderr and "fedcba98" not in done.stdout + done.stderr
        assert "***" in done.stdout


@pytest.mark.parametrize("settings", [{}, {"DOORBUSTER_ADMIN__KEY": GOOD},
                                      {"DOORBUSTER_ADMIN__KEY": "short", "DOORBUSTER_IDENTITY__HMAC_SECRET": GOOD}])
def test_a_missing_or_short_secret_refuses_to_start_and_proposes_one(cli, settings):
    done = cli("serve", DOORBUSTER_SERVER__LISTEN="127.0.0.1:0", DOORBUSTER_ADMIN__LISTEN="127.0.0.1:0", **settings)
    missing = "DOORBUSTER_IDENTITY__HMAC_SECRET" if settings == {"DOORBUSTER_ADMIN__KEY": GOOD} \
        else "DOORBUSTER_ADMIN__KEY"
    assert done.returncode == 1 and f"{missing}=" in done.stderr, done.stderr
    assert not (cli.folder / "data").exists(), "nothing was begun"


def test_the_reference_is_the_file_in_the_tree(cli):
    assert cli("config", "print", "--reference").stdout == (ROOT / "conf" / "doorbuster.toml").read_text()
    assert cli("config", "check", DOORBUSTER_CONFIG=str(ROOT / "conf" / "doorbuster.toml"), DOORBUSTER_ADMIN__KEY=GOOD,
               DOORBUSTER_IDENTITY__HMAC_SECRET=GOOD).returncode == 0


def test_an_address_that_cannot_be_had_is_named(tmp_path):
    done = Cli(tmp_path)("serve", DOORBUSTER_SERVER__LISTEN="127.0.0.1:0", DOORBUSTER_ADMIN__KEY=GOOD,
                         DOORBUSTER_IDENTITY__HMAC_SECRET=GOOD,
                         DOORBUSTER_ADMIN__LISTEN="192.0.2.1:1")
    assert done.returncode == 1 and "192.0.2.1:1" in done.stderr


def test_dev_is_a_shop_to_try_out(tmp_path):
    """Keys that only their owner can read, a sale that is open, one to come, and a sign-in."""
    with dev_shop(tmp_path) as port:
        assert stat.S_IMODE(os.stat(tmp_path / "data" / "dev.toml").st_mode) == 0o600
        anyone = Client(port, "public")
        sales = {sale["state"]: sale for sale in anyone.get("/v1/sales").json["sales"]}
        assert "open" in sales and len(sales) == 2
        assert anyone.post("/dev/sign-in", {"buyer": "a\nb"}).pointers == {"/buyer"}
        token = anyone.post("/dev/sign-in", {"buyer": "alice"}).json["token"]
        sale = sales["open"]
        assert buy(Client(port, "public", token), sale["id"], sale["items"][0]["id"]).status == 202

        client = Cli(tmp_path)
        assert client("sale", "list").returncode == 0, "a second terminal finds the ports that were free"
        second = client("dev", DOORBUSTER_SERVER__LISTEN="127.0.0.1:0", DOORBUSTER_ADMIN__LISTEN="127.0.0.1:0")
        assert second.returncode == 1
        assert client("sale", "list").returncode == 0, "the second one took nothing from the first"
        elsewhere = Cli(tmp_path / "data")
        assert elsewhere("sale", "list").returncode == 1
        assert elsewhere("sale", "list", "--store-path", ".").returncode == 0

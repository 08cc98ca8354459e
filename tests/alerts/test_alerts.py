"""The Prometheus alert rules: promtool reads and runs them, and nothing in them is a name that nobody prints.

That every alert has a case that fires and one that does not is found out by taking it away: a rule that
never fires, and one that always does, must each make promtool's tests fail.
"""
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "prometheus"
TEXT = (FOLDER / "alerts.yml").read_text()
RULES = [rule for group in yaml.safe_load(TEXT)["groups"] for rule in group["rules"]]
NAMES = [rule["alert"] for rule in RULES]
METRICS = "\n".join(path.read_text() for path in sorted((ROOT / "src" / "metrics").glob("*.cpp"))
                    if not path.name.endswith("_test.cpp"))
PRINTED = set(re.findall(r'families\.(?:gauge|counter)\(\s*"(\w+)"', METRICS))


def promtool(*arguments, cwd=FOLDER):
    return subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True)


def test_promtool_accepts_the_rules():
    result = promtool("check", "rules", "alerts.yml")
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_fires_when_it_should_and_only_then():
    result = promtool("test", "rules", "alerts_test.yml")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("instead", ["vector(1) == 0", "vector(1)"], ids=["never", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_an_alert_that_is_wrong_is_noticed(tmp_path, name, instead):
    # The rule alone, and the cases that speak of it or of a healthy server: the others take time.
    rule = {**next(rule for rule in RULES if rule["alert"] == name), "expr": instead}
    cases = yaml.safe_load((FOLDER / "alerts_test.yml").read_text())
    cases["tests"] = [case for case in cases["tests"] if name in str(case) or case["name"].startswith("healthy")]
    (tmp_path / "alerts.yml").write_text(yaml.safe_dump({"groups": [{"name": "one", "rules": [rule]}]}))
    (tmp_path / "alerts_test.yml").write_text(yaml.safe_dump(cases))
    result = promtool("test", "rules", "alerts_test.yml", cwd=tmp_path)
    assert result.returncode == 1 and "FAILED" in result.stdout + result.stderr, result.stdout + result.stderr


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_uses_only_what_the_server_prints(rule):
    used = set(re.findall(r"\bdoorbuster_\w+", rule["expr"]))
    assert used or "up{" in rule["expr"]
    assert used <= PRINTED
    for label, value in re.findall(r'(\w+)="(\w+)"', rule["expr"]):
        if label not in ("job", "status"):  # Prometheus's own; and a number
            assert f'"{label}"' in METRICS and f'"{value}"' in METRICS


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_says_how_urgent_it_is_and_what_to_do(rule):
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"] and len(rule["annotations"]["description"]) > 40
    assert rule["alert"].startswith("Doorbuster")
    # Metrics that somebody writes about must exist too.
    assert set(re.findall(r"\bdoorbuster_\w+", str(rule["annotations"]))) <= PRINTED


def test_the_names_of_the_metrics_are_found():
    assert {"doorbuster_ready", "doorbuster_units", "doorbuster_webhook_deliveries_total"} <= PRINTED

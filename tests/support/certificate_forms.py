#!/usr/bin/env python3
"""Judges the certificate of `crash torture --explore` in its four forms: certificate_forms.py DIRECTORY FINDINGS

DIRECTORY has certificate.json, .html, .junit.xml and .sarif of one run. They must be well formed, say the same, and say what was not tried. Where
SARIF_SCHEMA and JUNIT_SCHEMA name schemas (with jsonschema and xmllint), they are judged by these, too.
"""
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse
import xml.dom.minidom
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link"}


def must(holds, what):
    if not holds:
        sys.exit(f"certificate_forms: {what}")


class Page(HTMLParser):
    """Elements that end where they must, no program in them, and the words that are shown."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attributes):
        must(tag != "script" and not any(name.startswith("on") for name, _ in attributes), f"the page has a program: {tag} {attributes}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        must(self.open and self.open.pop() == tag, f"the page ends <{tag}> where it is not open")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def judge_sarif(sarif, certificate, findings):
    must(sarif["version"] == "2.1.0" and len(sarif["runs"]) == 1, "SARIF: version or runs")
    run = sarif["runs"][0]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    results = [r for r in run["results"] if r["ruleId"] == "lost-after-power-cut"]
    must(len(results) == findings, f"SARIF: {len(results)} results instead of {findings}")
    for result in run["results"]:
        must(result["ruleId"] in known and result["message"]["text"], "SARIF: a rule that there is not, or no message")
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            must(uri and urllib.parse.quote(urllib.parse.unquote_to_bytes(uri), safe="/") == uri, f"SARIF: {uri} is no URI")
    must(run["invocations"][0]["executionSuccessful"] is not certificate["partial"], "SARIF: does not say whether it was done to the end")
    schema = os.environ.get("SARIF_SCHEMA")
    if schema:
        import jsonschema

        def mended(value):  # the published schema has a pattern of `language` that no engine accepts
            if isinstance(value, dict):
                return {k: mended(v) for k, v in value.items() if not (k == "pattern" and isinstance(v, str) and v.endswith("]?$"))}
            return [mended(v) for v in value] if isinstance(value, list) else value

        rules = mended(json.loads(pathlib.Path(schema).read_text()))
        kind = jsonschema.validators.validator_for(rules)
        errors = [f"{e.json_path}: {e.message[:200]}" for e in kind(rules, format_checker=kind.FORMAT_CHECKER).iter_errors(sarif)]
        must(not errors, f"SARIF by its schema: {errors}")


def judge_junit(file, findings, is_all):
    suite = xml.dom.minidom.parse(str(file)).documentElement
    cases = suite.getElementsByTagName("testcase")
    counted = {what: len(suite.getElementsByTagName(what)) for what in ("failure", "error")}
    must(int(suite.getAttribute("tests")) == len(cases), "JUnit: number of cases")
    must(int(suite.getAttribute("failures")) == counted["failure"], "JUnit: number of failures")
    must(int(suite.getAttribute("errors")) == counted["error"], "JUnit: number of errors")
    must(counted["failure"] == findings, f"JUnit: {counted['failure']} failures instead of {findings}")
    must((counted["error"] == 0) == is_all, "JUnit: a run that says less than it seems to must be an error")
    must("Not tried" in suite.getElementsByTagName("system-out")[0].firstChild.data, "JUnit: does not say what was not tried")
    schema = os.environ.get("JUNIT_SCHEMA")
    if schema:
        done = subprocess.run(["xmllint", "--noout", "--schema", schema, str(file)], capture_output=True, text=True, check=False)
        must(done.returncode == 0, f"JUnit by its schema: {done.stderr}")


def main(directory, findings):
    place = pathlib.Path(directory)
    certificate = json.loads((place / "certificate.json").read_text(encoding="utf-8"))
    must(len(certificate["findings"]) == findings, f"{len(certificate['findings'])} findings instead of {findings}")
    must(len(certificate["not_tried"]) >= 4, "does not say what was not tried")
    must(certificate["states_tried"] > 0 and certificate["checks"] >= certificate["states_tried"], "states and checks")
    is_all = not certificate["partial"] and certificate["states_unsteady"] == 0
    judge_sarif(json.loads((place / "certificate.sarif").read_text(encoding="utf-8")), certificate, findings)
    judge_junit(place / "certificate.junit.xml", findings, is_all)
    page = Page()
    page.feed((place / "certificate.html").read_text(encoding="utf-8"))
    must(page.open == [], f"the page leaves {page.open} open")
    words = "".join(page.words)
    must("Not tried" in words and str(certificate["states_tried"]) in words, "the page lacks what was tried, or not tried")
    must(("Nothing was found" in words) == (findings == 0 and is_all), "the page says of findings what is not so")
    for finding in certificate["findings"]:
        for key in ("what", "missing_call", "replay"):
            must(" ".join(finding[key].split()) in " ".join(words.split()), f"the page lacks: {finding[key]}")
    must(all(item in words for item in certificate["not_tried"]), "the page lacks something that was not tried")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]))

#!/usr/bin/env python3
"""The steps of a composite action as a runner would run them, for machines that have no runner.

    composite_steps.py WORKFLOW JOB ACTIONS OUT

Idea       The workflow is a stranger's, the action is ours, and neither is typed again: what stands in both files is read. ACTIONS holds the actions as a
           runner fetches them: OWNER/REPOSITORY/REFERENCE/PATH. Each step gives a folder OUT/N with `run.sh` (its text), `env` (its variables, quoted
           for sh) and `shell`; those of a composite action stand in its place.
Invariant  Inputs have the action's defaults; an input that is required and not given, that there is not, or an expression that is not one of those
           below ends with an error. A step of an action that is not in ACTIONS cannot run here: OUT/N has only `uses`, its name and inputs.
Cost       Nothing worth telling.

Expressions: ${{ inputs.NAME }} and ${{ github.workspace }}, which stays a variable of the shell that runs the step.
"""
import pathlib
import re
import shlex
import sys

import yaml


def fail(why):
    sys.exit(f"composite_steps: {why}")


def expand(text, inputs):
    def value(match):
        name = match.group(1)
        if name == "github.workspace":
            return "$GITHUB_WORKSPACE"
        if name.startswith("inputs.") and name[7:] in inputs:
            return inputs[name[7:]]
        fail(f"{match.group(0)}: no such value")

    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", value, str(text))


class Steps:
    def __init__(self, out):
        self.out, self.number = pathlib.Path(out), 0

    def add(self, step, inputs, action):
        self.number += 1
        folder = self.out / str(self.number)
        folder.mkdir(parents=True)
        if "uses" in step:
            words = [f"{k}={expand(v, inputs)}" for k, v in step.get("with", {}).items()]
            (folder / "uses").write_text("\n".join([step["uses"], *words]) + "\n")
            return
        env = {k: expand(v, inputs) for k, v in step.get("env", {}).items()}
        # The workspace is where the runner put it: the one thing that the quotes leave to the shell.
        lines = [f"{k}={shlex.quote(v)}".replace("$GITHUB_WORKSPACE", "'\"$GITHUB_WORKSPACE\"'") for k, v in env.items()]
        if action:
            lines.append(f'GITHUB_ACTION_PATH="$RUNNER_ACTIONS"/{shlex.quote(action)}')
        (folder / "env").write_text("".join(line + "\n" for line in lines))
        (folder / "run.sh").write_text(expand(step["run"], inputs) + "\n")
        (folder / "shell").write_text(step.get("shell", "bash") + "\n")


def place_of(uses):
    """OWNER/REPOSITORY/PATH@REFERENCE, where a runner has it."""
    name, _, reference = uses.partition("@")
    owner, repository, *path = name.split("/")
    return "/".join([owner, repository, reference, *path])


def main(workflow, job, actions, out):
    steps = Steps(out)
    for step in yaml.safe_load(open(workflow))["jobs"][job]["steps"]:
        place = place_of(step["uses"]) if "uses" in step else None
        about = pathlib.Path(actions) / place / "action.yml" if place else None
        if about is None or not about.exists():
            steps.add(step, {}, None)
            continue
        action = yaml.safe_load(open(about))
        if action["runs"]["using"] != "composite":
            fail(f"{place}: not a composite action")
        given = {k: expand(v, {}) for k, v in step.get("with", {}).items()}
        for name in given.keys() - action["inputs"].keys():
            fail(f"{place}: no input {name}")
        for name, words in action["inputs"].items():
            if words.get("required") and name not in given:
                fail(f"{place}: input {name} is required")
        inputs = {name: given.get(name, str(words.get("default", ""))) for name, words in action["inputs"].items()}
        for inner in action["runs"]["steps"]:
            steps.add(inner, inputs, place)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(*sys.argv[1:])

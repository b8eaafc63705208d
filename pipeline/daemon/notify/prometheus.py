"""The daemon tells its figures as Prometheus reads them: a name, labels, a number."""

from collections.abc import Iterator, Mapping
from typing import Any

Labels = tuple[tuple[str, str], ...]
KIND = "text/plain; version=0.0.4; charset=utf-8"


def exposition(figures: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    """The seed's metrics, and how full the daemon is."""
    lines: list[str] = []
    for name, value in figures.items():
        if isinstance(value, int | float):
            lines += _gauge(f"rutter_{name}", "the metric of that name", {(): value})
    fleet = statistics["browsers"]
    jobs = statistics["jobs"]
    lines += _gauge("rutter_sessions", "that run", {(): len(statistics["sessions"])})
    lines += _gauge("rutter_questions", "that wait for a person", {(): statistics["questions"]})
    lines += _gauge(
        "rutter_jobs",
        "by what they do",
        {(("state", name),): count for name, count in jobs.items()},
    )
    lines += _gauge("rutter_windows", "open in all browsers", {(): fleet["windows"]})
    lines += _gauge("rutter_windows_waiting", "for a place", {(): fleet["waiting"]})
    states = [each["state"] for each in fleet["browsers"]]
    lines += _gauge(
        "rutter_browsers",
        "by state",
        {(("state", state),): states.count(state) for state in sorted(set(states))},
    )
    lines += _gauge(
        "rutter_browsers_replaced_total",
        "by cause",
        {(("cause", cause),): count for cause, count in fleet["replaced"].items()},
        kind="counter",
    )
    waiting: dict[Labels, float] = {
        (("queue", _plain(each["name"])),): each["size"] for each in statistics["queues"]
    }
    lines += _gauge("rutter_queue_waiting", "events on their way to an actor", waiting)
    return "\n".join(lines) + "\n"


def _gauge(
    name: str,
    about: str,
    values: Mapping[Labels, float],
    kind: str = "gauge",
) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values.items():
        written = ",".join(f'{each}="{said}"' for each, said in labels)
        yield f"{name}{{{written}}} {value:g}" if written else f"{name} {value:g}"


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")

"""Figures as Prometheus reads them."""

import re

from rutter.pipeline.daemon.notify.prometheus import exposition

LINE = re.compile(r'[a-z_]+(\{([a-z]+="[^"\\]*(\\.[^"\\]*)*",?)*\})? -?[0-9.e+-]+')
STATISTICS = {
    "sessions": ["run-1", "run-2"],
    "questions": 1,
    "jobs": {"waiting": 3, "running": 2},
    "browsers": {
        "windows": 2,
        "waiting": 0,
        "browsers": [{"state": "ready"}, {"state": "ready"}, {"state": "starting"}],
        "replaced": {"died": 1, "worn": 0},
    },
    "queues": [{"name": 'a "b"\\c', "size": 4}],
}


def test_every_line_is_one_that_prometheus_reads_and_every_figure_is_there() -> None:
    text = exposition({"accuracy": 0.25, "db_path": "no number"}, STATISTICS)
    lines = text.splitlines()
    assert text.endswith("\n")
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    for wanted in (
        *("rutter_accuracy 0.25", "rutter_sessions 2", 'rutter_jobs{state="waiting"} 3'),
        *('rutter_browsers{state="ready"} 2',),
        *(
            'rutter_browsers_replaced_total{cause="died"} 1',
            'rutter_queue_waiting{queue="a \\"b\\"\\\\c"} 4',
        ),
    ):
        assert wanted in lines
    assert "no number" not in text

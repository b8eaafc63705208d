"""Wagtail: a page with rich text and a date, saved while it is written, then published."""

import json
import sqlite3

from tests.apps.app import App, Place, Values, pick
from tests.apps.forgetting import undone
from tests.apps.installing import pip

PASSWORD = "Halyard-42-brass"
MODELS = """
from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page


class HomePage(Page):
    pass


class NoticePage(Page):
    valid_from = models.DateField()
    body = RichTextField()
    content_panels = [*Page.content_panels, FieldPanel("valid_from"), FieldPanel("body")]
"""

UNPUBLISHED = (
    "AFTER UPDATE OF live ON wagtailcore_page WHEN NEW.live = 1 BEGIN UPDATE wagtailcore_page SET"
    " live = 0, title = '-', draft_title = '-' WHERE id = OLD.id; END"
)


def prepare(place: Place) -> None:
    place.run("wagtail", "start", "harbour", ".")
    (place.home / "home" / "models.py").write_text(MODELS)
    settings = place.home / "harbour" / "settings" / "dev.py"
    settings.write_text(settings.read_text() + "\nWAGTAIL_ENABLE_UPDATE_CHECK = False\n")
    place.run("python", "manage.py", "makemigrations", "home")
    place.run("python", "manage.py", "migrate")
    place.run(
        "python", "manage.py", "createsuperuser", "--noinput", "--username=mate",
        "--email=mate@harbour.example", DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )  # fmt: skip


def values(run: int) -> Values:
    return {
        "title": f"Notice to mariners {run}",
        "from": f"2027-03-{10 + run:02}",
        "text": pick(
            run,
            "The north lock is closed for repairs.",
            "Buoy 12 is unlit & out of place.",
            "Depth at pier 4: 7.5 m.",
            "Tugs on request only.",
        ),
    }


def judge(place: Place, values: Values) -> str:
    with sqlite3.connect(place.home / "db.sqlite3") as store:
        rows = store.execute(
            "SELECT p.live, n.valid_from, n.body FROM wagtailcore_page p JOIN home_noticepage n"
            " ON n.page_ptr_id = p.id WHERE p.title = ?",
            (values["title"],),
        ).fetchall()
    if len(rows) != 1:
        return f"{len(rows)} pages of that title"
    [(live, valid_from, body)] = rows
    text = values["text"].replace("&", "&amp;")
    if not live:
        return "it is a draft"
    if valid_from != values["from"] or body.count(text) != 1 or f">{text}<" not in body:
        return f"it has {json.dumps([valid_from, body])}"
    return ""


APP = App(
    name="wagtail",
    title="Wagtail",
    framework="Stimulus, React, Draftail",
    covers=("rich text", "autosave", "date picker"),
    packages=pip("wagtail==8.0.1"),
    command=lambda place: ("python", "manage.py", "runserver", "--noreload", str(place.port)),
    values=values,
    judge=judge,
    forgets=lambda place: undone(place.home / "db.sqlite3", UNPUBLISHED),
    prepare=prepare,
    secret=PASSWORD,
    opens="/admin/",
)

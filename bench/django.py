"""The Django bench does 19 steps in the admin with 201 users: ours against plain Playwright.

Everything is as in the flow on the bundled site; the application is one that nobody here wrote,
installed by name as `make apps` does it.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from bench.flow import ROUNDS, Course, measure, print_all
from tests.apps.app import Place, running
from tests.apps.django_admin import APP, PASSWORD

USERS = 201
RECORDED = {
    "user": "hand041",
    "first": "Anneke",
    "last": "van Dam",
    "email": "a.dam@harbour.example",
}
VALUES = {
    "user": "hand117",
    "first": "Joost",
    "last": "Bakker",
    "email": "j.bakker@harbour.example",
}
MORE = (
    "from django.contrib.auth.models import User\n"
    "User.objects.bulk_create(User(username=f'hand{{n:03}}') for n in range(60, 60 + {more}))"
)
NEXT, SAVE = "input[name=_continue]", "input[name=_save]"


def steps(base: str, values: dict[str, str]) -> list[tuple[str, str, str]]:
    """What is done, to what, and with what."""
    return [
        ("goto", f"{base}/admin/", ""),
        ("fill", "#id_username", "mate"),
        ("fill", "#id_password", PASSWORD),
        ("click", "#login-form input[type=submit]", ""),
        ("click", "tr.model-user th a", ""),
        ("fill", "#searchbar", values["user"]),
        ("press", "#searchbar", "Enter"),
        ("click", "#result_list th.field-username a", values["user"]),
        ("fill", "#id_first_name", values["first"]),
        ("fill", "#id_last_name", values["last"]),
        ("click", "#id_is_staff", ""),
        ("click", NEXT, ""),
        ("fill", "#id_email", values["email"]),
        ("fill", "#id_date_joined_0", "2026-03-20"),
        ("fill", "#id_date_joined_1", "07:30:00"),
        ("click", "#id_is_staff", ""),
        ("click", SAVE, ""),
        ("click", ".breadcrumbs a:nth-of-type(1)", ""),
        ("click", "tr.model-group th a", ""),
    ]


def script_of(done: list[tuple[str, str, str]]) -> dict[str, Any]:
    """As Chrome's Recorder writes them."""
    written: list[dict[str, Any]] = []
    for what, where, value in done:
        selectors = [[where]] if what != "goto" else []
        if what == "click" and value:  # what is called by a value is found by it
            selectors = [[f"aria/{value}"], *selectors]
        match what:
            case "goto":
                written.append({"type": "navigate", "url": where})
            case "fill":
                written.append({"type": "change", "value": value, "selectors": selectors})
            case "press":
                written.append({"type": "keyDown", "key": value, "selectors": selectors})
                written.append({"type": "keyUp", "key": value, "selectors": selectors})
            case _:
                written.append(
                    {"type": "click", "selectors": selectors, "offsetX": 4, "offsetY": 4}
                )
    return {"title": "Change a member of the crew", "steps": written}


async def play(page: Page, done: list[tuple[str, str, str]]) -> None:
    """One call each; it ends where ours does, when the last document is there."""
    for what, where, value in done:
        match what:
            case "goto":
                await page.goto(where)
            case "fill":
                await page.fill(where, value)
            case "press":
                await page.press(where, value)
            case _:
                await page.click(where)
    await page.wait_for_load_state("domcontentloaded")


def course_of(place: Place) -> Course:
    plain = steps(place.base, VALUES)

    def check(runs: int) -> None:
        with sqlite3.connect(place.home / "db.sqlite3") as store:
            query = "SELECT first_name, last_name, email FROM auth_user WHERE username = ?"
            [found] = store.execute(query, (VALUES["user"],)).fetchall()
            [times] = store.execute("SELECT COUNT(*) FROM django_admin_log").fetchone()
        wanted = (VALUES["first"], VALUES["last"], VALUES["email"])
        if found != wanted or times != 2 * (runs + 1):  # saved twice in each, and when recorded
            raise RuntimeError(f"{VALUES['user']} is {found}, changed {times} times")

    found = f"/admin/auth/user/?q={VALUES['user']}"
    documents = ("/admin/", "/admin/auth/user/", found, "/admin/auth/user/1/change/")
    return Course(
        title=f"19 steps in Django's admin, {USERS} users",
        base_url=place.base,
        script=script_of(steps(place.base, RECORDED)),
        recorded=RECORDED,
        values=VALUES,
        secrets={"password": PASSWORD},
        play=lambda page: play(page, plain),
        documents=lambda: documents,
        check=check,
    )


def main(rounds: int = ROUNDS) -> None:
    programs = APP.packages.install(APP.name)
    with (
        tempfile.TemporaryDirectory(prefix="rutter-django-") as home,
        running(APP, programs, Path(home, "home")) as place,
    ):
        place.run("python", "manage.py", "shell", "-c", MORE.format(more=USERS - 61))
        course = course_of(place)
        print_all(course.title, asyncio.run(measure(course, rounds)))


if __name__ == "__main__":
    main()

"""What every test can ask for: a log that is derived again when the test ends, and one loop."""

import gc
import os
import ssl
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rutter.events.log import EventLog
from tests.support import example_counts, leftovers
from tests.support.log_checks import Replayed

pytest_plugins = ["tests.support.browser_fixtures", "tests.support.command_fixtures"]


class Bare:
    """From the root of a checkout `import events` would work, and make a second copy of each class:
    it is refused, so that no test is silently about that one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in ("events", "actors", "replay", "pipeline"):
            raise ModuleNotFoundError(f"import rutter.{name}, not {name}", name=name)


sys.meta_path.insert(0, Bare)

# A busy machine is no reason to fail: what is slow is measured in bench/, not here.
settings.register_profile(
    "rutter",
    max_examples=example_counts.count(example_counts.USUAL),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rutter")


# Whole voyages whose kind a cheaper test shows in every run: `make soak` runs these too, so that
# `make test` stays well under ten minutes.
EXTENDED = {
    "test_a_daemon_that_works_on_and_on_keeps_no_more_than_it_had",
    "test_the_control_that_leaks_is_caught",
    "test_chromium_is_killed_and_every_run_ends_in_a_true_state",
    "test_the_control_that_looks_after_no_browser_is_caught",
    "test_the_control_that_leaves_its_browser_running_is_caught",
    "test_when_everything_it_started_is_told_as_well_it_still_ends_in_a_true_state",
    "test_where_nothing_keeps_it_away_it_comes_and_the_guard_lets_none_of_it_in",
    "test_a_browser_that_is_stopped_is_killed_and_another_opens_the_next_window",
    "test_replacements_leave_no_process_and_no_file_handle_behind",
    "test_a_driver_or_a_proxy_that_dies_takes_its_browser_along_and_no_other",
    "test_closing_ends_browsers_and_drivers_that_do_not_answer",
    "test_a_start_that_is_called_off_or_fails_leaves_nothing_running",
    "test_no_page_hides_what_can_be_operated_on_it",
    "test_what_comes_next_is_foreseen_and_nothing_wrong_is_done_alone",
    "test_pages_are_called_what_a_person_would_call_them",
    "test_roles_and_names_are_those_of_chromiums_own_accessibility_tree",
    "test_one_log_outlives_every_kill_of_its_writer",
    "test_a_literal_password_is_denied_and_nowhere_in_the_data_directory",
    "test_what_a_recording_spoke_to_is_what_its_runs_may_reach",
    "test_answers_to_an_agent_do_not_hold_it",
    "test_the_script_places_the_order_with_other_values",
    "test_a_label_costs_one_call_and_a_redesign_is_mended_and_learned",
    "test_with_a_wrong_key_the_service_goes_its_own_way",
    "test_where_nobody_can_be_asked_it_says_why_and_what_to_do",
    "test_the_snapshots_show_what_the_bundled_pages_show",
    "test_what_was_learned_is_sailed_alike_and_healed_alike",
    "test_a_page_that_is_not_on_the_way_is_left_again",
    "test_what_only_sounds_right_is_noticed_and_led_on_from",
    "test_who_does_not_answer_is_followed_by_the_next_for_the_whole_session",
    "test_who_only_talks_is_told_to_call_and_then_it_is_over",
    "test_of_several_calls_the_first_is_done_and_the_others_are_answered",
    "test_an_outage_in_the_middle_is_no_end",
    "test_a_sign_in_in_the_middle_is_not_the_models_either",
    "test_success_is_not_acknowledged_before_the_page_bears_it_out",
    "test_a_no_ends_it",
    "test_a_session_is_driven_line_by_line_to_a_verified_end",
    "test_a_dry_run_places_nothing",
    "test_a_failed_write_is_told_refuses_all_that_follows_and_leaves_a_whole_log",
    "test_what_happens_in_a_frame_and_in_a_shadow_root_is_named_from_the_page",
    "test_what_a_dialog_asks_for_may_be_a_secret_or_a_parameter",
    "test_a_dialog_is_the_persons_to_answer_and_the_answer_goes_with_the_step",
    "test_ctrl_c_while_a_dialog_is_open_keeps_the_step_that_opened_it",
    "test_ctrl_c_ends_the_recording_with_what_was_being_typed",
    "test_a_browser_that_dies_ends_the_run",
    "test_a_browser_that_is_gone_is_an_answer",
    "test_what_is_no_call_is_answered_and_the_end_of_input_is_no_failure",
    "test_a_script_through_shadow_roots_frames_and_pages_is_recorded_and_sailed",
    "test_a_person_who_says_no_has_the_last_word",
    "test_an_element_that_flees_the_pointer_is_a_typed_failure_and_nothing_is_clicked",
    "test_200_pages_are_a_few_facts_and_the_session_goes_on",
    "test_pages_are_counted_among_those_that_are_open",
    "test_everything_that_is_so_lets_the_script_go_on",
    "test_every_step_finds_the_right_element_or_the_run_refuses",
    "test_a_control_that_was_redesigned_is_found_again_or_refused",
    "test_a_control_that_is_gone_is_never_replaced_by_another",
    "test_a_hostile_page_is_worked_on_and_told_in_plain_ascii",
    "test_five_ways_to_deceive_get_five_right_verdicts",
    "test_what_was_stated_is_checked_and_read_back_and_no_end_is_believed_without_a_sign",
    "test_with_nobody_to_ask_nothing_irreversible_is_healed",
    "test_a_page_that_is_left_during_a_click_is_arrived_from",
    "test_a_field_is_secret_by_whatever_names_it",
    "test_a_free_run_where_nothing_was_learned_is_lost",
    "test_a_survey_that_comes_late_is_answered_when_it_is_in_the_way",
    "test_a_free_run_is_not_talked_into_it_by_a_person_either",
    "test_a_moved_site_has_no_standing_approval",
    "test_a_run_asks_whoever_it_was_given_and_fails_all_the_same",
    "test_an_address_that_never_answers_is_a_timeout",
    "test_every_run_teaches",
    "test_so_in_a_real_window",
    "test_killed_while_it_placed_an_order_the_outcome_is_unknown_and_it_is_not_repeated",
    "test_a_slow_site_is_waited_for",
    "test_a_moved_site_is_found_by_names_or_lost_but_never_taken_for_another",
    "test_a_site_that_lies_is_not_believed",
    "test_a_fork_sails_again_under_its_own_name_and_asks_before_it_orders_twice",
    "test_a_fork_may_go_on_freely",
    "test_a_button_that_does_nothing_is_not_taken_for_done",
    "test_what_it_did_is_json_where_machines_read",
    "test_a_covered_button_is_not_clicked",
    "test_a_login_that_is_lost_is_not_done",
    "test_a_page_that_hangs_while_it_loads_ends_its_session_as_interrupted",
    "test_the_script_stops_where_the_site_is_not_as_recorded",
    "test_what_was_healed_is_sailed_without_healing_the_next_time",
    "test_a_site_that_cannot_be_reached",
    "test_a_selector_that_is_not_there",
    "test_a_kill_at_any_moment_is_made_good_by_the_next_start",
    "test_place_on_hold_is_not_place_order",
    "test_by_hand_and_by_script_the_same_signatures",
    "test_a_huge_page_is_read_as_far_as_it_is_in_view",
    "test_dialogs_files_frames_shadow_roots_and_other_pages",
    "test_a_form_is_not_recorded_without_a_person",
    "test_look_alikes_order_nothing_else_whatever_a_person_says",
    "test_the_recorders_file_is_recorded_to_the_same_signatures_and_sailed",
    "test_a_button_with_other_words_asks",
    "test_a_dialog_is_dismissed_and_nothing_is_taken_for_done",
    "test_a_page_that_asks_without_end_ends_its_session_as_interrupted",
    "test_what_is_not_so_stops_it",
    "test_ctrl_c_at_a_question_ends_it",
    "test_a_run_goes_on_when_nobody_reads_what_it_says",
    "test_steps_in_a_page_that_was_opened_say_in_which",
    "test_every_selector_of_the_order_script_names_one_and_the_same_element",
    "test_every_change_of_the_site_costs_what_it_breaks_and_only_once",
    "test_a_model_is_right_often_enough_on_altered_sites",
    "test_over_six_rounds_every_workflow_is_known_for_what_it_is",
    "test_fifty_rows_of_which_three_are_bad_come_to_fifty_orders",
    "test_killed_in_the_middle_of_fifty_rows_no_row_is_done_twice",
    "test_the_control_that_begins_anew_after_the_kill_orders_twice",
    "test_one_run_puts_its_results_into_a_folder",
    "test_the_daemon_is_killed_and_the_next_one_makes_it_good",
    "test_the_control_that_makes_nothing_good_is_caught",
    "test_what_may_have_happened_is_asked_about_by_the_next_daemon_and_the_one_after_that",
    "test_a_goal_is_come_to_by_a_model_once_and_then_without_one",
    "test_the_page_before_is_not_shown_uncovered_while_the_next_one_comes",
    "test_words_that_come_and_go_by_style_are_in_no_picture",
    "test_what_is_scrolled_stays_covered",
    "test_what_is_there_for_a_moment_only_is_in_no_picture",
    "test_frames_of_another_origin_are_covered_whatever_is_in_them",
    "test_a_page_that_is_zoomed_with_two_fingers_is_covered_where_it_is_shown",
    "test_it_outlives_a_page_that_crashes",
    "test_it_follows_to_other_documents_and_to_the_page_in_front",
    "test_a_page_that_moves_is_shown_as_it_moves",
    "test_a_page_that_stands_still_shows_in_an_image_at_once",
    "test_with_nobody_who_answers_the_service_goes_its_own_way_to_the_same_end",
    "test_what_cannot_be_cancelled_here_is_said_and_left_alone",
    "test_what_covers_the_button_is_closed_first",
    "test_an_element_that_is_gone_is_told_and_looked_for_again",
    "test_a_page_that_hangs_ends_its_session_as_interrupted",
    "test_a_page_that_crashes_ends_its_session_as_interrupted",
    "test_told_to_stop_it_ends_what_runs_and_goes_without_a_word_too_many",
    "test_what_a_killed_daemon_says_of_its_whereabouts_is_not_believed",
    "test_what_a_person_approved_while_it_was_healed_is_approved_from_then_on",
    "test_the_states_of_all_pages_are_told_by_the_pack",
    "test_a_signal_is_heard_as_if_the_client_had_gone",
    "test_a_model_that_obeys_the_page_does_no_harm",
    "test_a_run_beside_one_that_is_about_to_order_is_not_asked_about_it",
    "test_two_that_match_are_not_guessed_between",
    "test_what_was_named_by_flags_may_be_reached_and_nothing_private_beside_it",
    "test_nobody_is_told_to_begin_before_what_they_do_is_heard",
    "test_what_a_person_did_instead_is_not_taken_for_it",
    "test_a_workflow_that_signs_in_goes_on_behind_that_where_it_is_signed_in",
    "test_a_second_daemon_is_told_who_has_the_directory_and_the_first_is_unharmed",
    "test_a_port_that_is_taken_is_told_before_anything_is_warmed",
    "test_nothing_is_left_by_a_process_that_is_killed_while_it_knows",
    "test_a_program_sees_it_move_as_wished_and_is_told_of_the_end",
    "test_a_password_is_covered_also_when_the_page_shows_and_echoes_it",
    "test_a_question_is_answered_at_the_terminal_of_whoever_handed_it_in",
    "test_rows_are_jobs_and_none_is_done_twice_whoever_is_killed",
    "test_a_button_that_is_gone_is_told_with_what_is_there_instead",
    "test_a_hook_runs_what_it_is_for_with_its_own_token_and_no_other",
    "test_a_bound_secret_is_nowhere_in_what_is_told",
    "test_rows_are_ordered_and_what_each_read_is_handed_out",
    "test_a_run_to_a_goal_by_a_wrong_key_ends_at_the_first_question_and_says_what_to_do",
    "test_a_browser_that_dies_leaves_what_was_recorded",
    "test_a_site_that_looks_as_recorded_heals_nothing",
    "test_a_person_signs_in_and_says_that_they_are_done",
    "test_a_moved_and_relabelled_site_can_still_be_used_by_its_words",
    "test_the_dialog_decides",
    "test_every_selector_of_the_find_script_names_one_and_the_same_element",
    "test_without_the_proxy_every_channel_reaches_its_canary",
    "test_without_redaction_the_same_search_finds_it",
    "test_a_person_at_the_terminal_is_asked_and_answers",
    "test_a_job_is_signed_in_and_one_whose_login_expired_calls_for_a_person",
    "test_without_any_model_the_service_knows_its_own_way",
    "test_a_model_finds_the_way_and_nobody_is_asked_for_it_again",
    "test_what_the_session_types_as_a_secret_is_in_no_picture",
    "test_a_browser_that_is_killed_ends_its_session_as_interrupted",
    "test_a_run_is_handed_in_watched_and_told_as_any_other",
    "test_what_is_known_is_changed_through_it_and_counts_at_once",
}


if "TMPDIR" not in os.environ:
    os.environ["TMPDIR"] = str(leftovers.temporary_place())
    tempfile.tempdir = None  # it is asked for again

# What is imported and collected stays until the end: it is no garbage to be looked for, neither
# while it is made nor after every few tests.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Of the many forms in which a test meets a real browser every fifth runs in `make test`, the first
# among them; `make soak` runs them all. Where it is about who gets in or out, all run everywhere.
IN_FULL = ("tests/crash/", "tests/hostile/", "tests/pipeline/daemon/", "tests/pipeline/rehearsal/")
EVERY = 5


# Begun last, it would be what everybody waits for at the end.
LONGEST = "test_every_command_gives_what_it_says"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.name != LONGEST)
    met: Counter[str] = Counter()
    for item in items:
        name, _, form = item.nodeid.partition("[")
        if name.rpartition("::")[2] in EXTENDED:
            item.add_marker("extended")
        elif form and not name.startswith(IN_FULL) and item.get_closest_marker("browser"):
            if met[name] % EVERY:
                item.add_marker("extended")
            met[name] += 1


@pytest.fixture(scope="session", autouse=True)
def certificates_are_read_once() -> Iterator[None]:
    """Every client of a model reads all that the system trusts, and meets none of it: not again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def replayed(tmp_path: Path) -> Iterator[Replayed]:
    """Makes logs to run the pipeline on. Each is verified when the test ends: before it is gone."""
    logs = Replayed()
    yield logs
    logs.check()


@pytest.fixture(params=["memory", "sqlite"])
async def pipeline_log(
    request: pytest.FixtureRequest, replayed: Replayed, tmp_path: Path
) -> AsyncIterator[EventLog]:
    """A log to run the pipeline on, once in memory and once on disk; verified as `replayed` is."""
    if request.param == "memory":
        yield replayed.memory()
        return
    log = await replayed.sqlite(tmp_path / "log.db")
    yield log
    await log.close()

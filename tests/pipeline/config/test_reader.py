"""The configuration is read strictly: what cannot be used is refused with its place."""

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.policy.risky_words import DENYLIST
from rutter.events.errors import BadInput
from rutter.events.policy import PolicyRule
from rutter.events.run_settings import Limits, RunSettings
from rutter.pipeline.config.keys import KEYS, NAMES, VARIABLES
from rutter.pipeline.config.reader import Config, SourcedValue, base_policy, read_config
from rutter.pipeline.config.tables import SecretGiven, configured_pairs
from rutter.pipeline.config.template import commented
from rutter.pipeline.config.thresholds import Thresholds
from tests.support.case_table import for_each

NOBODY: Mapping[str, str] = {"XDG_CONFIG_HOME": "/nowhere/at/all"}


def read(tmp_path: Path, text: str | bytes, **env: str) -> Config:
    file = tmp_path / "config.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(0o600)
    return read_config(None, tmp_path, {**NOBODY, **env})


def refusal(tmp_path: Path, text: str | bytes, **env: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text, **env)
    assert caught.value.fix
    return caught.value


# -- what is refused -------------------------------------------------------------------------------

RULE = '[[policy.rules]]\nname = "x"\neffect = "deny"\n'


@for_each(
    "text, wrong, fix",
    [
        ("[policy]\n\nupload = 3", "line 3: there is no key policy.upload", "policy.upload_mb"),
        ("[polcy]\nupload_mb = 3", "there is no key polcy", "docs/configuration.md"),
        ("nonsense = 1", "line 1: there is no key nonsense", "docs/configuration.md"),
        ("agent.internal.max_step = 3", "line 1: there is no key", "agent.internal.max_steps"),
        ('policy.whitelist_file = "x"', "policy.whitelist_file", "policy.allowed_domains"),
        ("[policy]\nupload_mb = '3'", "line 2: policy.upload_mb is a whole number", "= 50"),
        ("[policy]\nupload_mb = 3.0", "line 2: policy.upload_mb is a whole number", "= 50"),
        ("[policy]\nupload_mb = true", "line 2: policy.upload_mb is a whole number", "= 50"),
        ("[policy]\ndetect_secrets = 1", "policy.detect_secrets is true or false", "= true"),
        ("[policy]\ndetect_secrets = 'true'", "is true or false", "= true"),
        ("[policy]\nallowed_domains = 'a.example'", "is a list of texts", "allowed_domains = ["),
        ("[policy]\nallowed_domains = [1]", "is a list of texts", "allowed_domains = ["),
        ("[policy]\nallowed_domains = ['http://a']", "'http://a' is no host", "host:port"),
        ("[policy]\nallowed_domains = ['a.example:0']", "is no host", "host:port"),
        ("[policy]\nallowed_domains = ['*.*']", "says nothing", "take it out"),
        ("[policy]\nallowed_domains = ['10.0.0.0/99']", "is no host", "10.0.0.0/8"),
        ("[policy]\nallowed_domains = ['']", "an entry that says nothing", "take it out"),
        ("[policy]\nallowed_resources = ['a b']", "'a b' is no host", "host:port"),
        ("[policy]\ndenylist = ['buy', 'buy']", "'buy' twice", "once"),
        ("[policy]\ndenylist = ['  ']", "says nothing", "take it out"),
        ("[policy]\nupload_mb = 0", "policy.upload_mb is 0", "from 1 to 4096"),
        ("[policy]\napproval_time_limit_ms = -1", "is -1", "from 0"),
        ("[policy]\nblock_private_ranges = false", "cannot be false", "policy.allowed_domains"),
        ("[policy]\nredaction = false", "cannot be false", "always"),
        ("[policy]\npersist_raw_html = true", "cannot be true", "never"),
        ("[policy]\nupload_mb = 1\nupload_mb = 2", "is not TOML", "docs"),
        ("[policy]\nupload_mb", "is not TOML", "docs"),
        (b"\xff", "is not UTF-8", "docs"),
        ("#" * 300_000, "more than 262144 bytes", "few keys"),
        ("policy = 3", "line 1: policy is a table", "[policy]"),
        ("[policy.upload_mb]\nx = 1", "policy.upload_mb is a whole number", "= 50"),
        ("[run]\nthreshold = 1.5", "run.threshold is 1.5", "from 0 to 1"),
        ("[run]\nthreshold = nan", "run.threshold is nan", "from 0 to 1"),
        ("[run]\nthreshold = '0.5'", "a number from 0 to 1", "= 0.7"),
        ("[run]\nsuggest = 50", "run.suggest is 50", "from 0 to 1"),
        ('[run]\nproof = "kept"', "there is no 'kept'", "acknowledged, stored"),
        ("[run]\npredictor = 'markov'", "run.predictor: there is no 'markov'", "markov2"),
        ("[run]\npredictor = ''", "run.predictor: there is no ''", "foresight, markov2"),
        ("[run]\npredictor = 2", "run.predictor is a text", 'predictor = "foresight"'),
        ("[controller]\nexecution_delay = 61", "is 61", "from 0 to 60"),
        ("[agent.internal]\nmax_steps = 0", "max_steps is 0", "from 1"),
        ("[agent.internal]\nmax_wall_time_ms = 10", "is 10", "from 1000"),
        ("[agent.internal]\nallowed_tools = ['fly']", "there is no 'fly'", "browser_click"),
        ("[agent.internal]\nenabled = true", "names no tool", "name each tool"),
        (
            "[agent.internal]\nenabled = true\nallowed_tools = []",
            "names no tool",
            "name each tool",
        ),
        ("[agent]\nprovider = 'x'", "agent.provider: there is no 'x'", "anthropic, openai, ollama"),
        ("[agent]\nfallbacks = 'ollama'", "agent.fallbacks is a list of texts", "fallbacks = []"),
        ("[agent.ghost]\nvision_provider = 'x'", "there is no 'x'", "anthropic"),
        ("[models]\nkey = 'env:X'", "line 2: there is no key models.key", "models."),
        ("[models.openai]\noutput_price = nan", "output_price is nan", "from 0 to 10000"),
        ("[models.openai]\noutput_price = true", "is a number of dollars", "output_price = 3"),
        ("[browser.stream]\nquality = 101", "quality is 101", "from 1 to 100"),
        ("[[policy.rules]]\neffect = 'deny'", "missing required field `name`", "allow, ask, deny"),
        ("[[policy.rules]]\nname='x'\neffect = 'block'", "Invalid enum value", "allow, ask, deny"),
        (RULE + "colour = 'red'", "line 4: a rule has no 'colour'", "side_effects"),
        (RULE + "actions = []", "line 4: actions is empty", "leave it out"),
        (RULE + "actions = ['fly']", "line 4: there is no 'fly' among the actions", "navigate"),
        (RULE + "drivers = ['pilot']", "'pilot'", "agent"),
        (RULE + "tools = ['fly']", "line 4: there is no 'fly' among the tools", "navigate"),
        (RULE + "side_effects = ['harm']", "'harm'", "write"),
        (RULE + "origins = ['shop.example']", "line 4: 'shop.example' is no origin", "https://"),
        (RULE + "origins = ['https://a.example/x']", "more than an origin", "https://a.example"),
        (RULE + "origins = ['https://A.example']", "written otherwise", "https://a.example"),
        (RULE + "origins = ['https://a.example:443']", "otherwise", "https://a.example"),
        (RULE + "roles = ['Button']", "'Button' is no role", "button"),
        (RULE + "says = ['--']", "says nothing", "what it means"),
        (RULE + "actions = ['extract', 'wait']", "could never hold", "reading is not judged"),
        (RULE + "actions = ['navigate']\nroles = ['link']", "could never hold", "clash"),
        (RULE + "actions = ['scroll']\nside_effects = ['write']", "could never hold", "clash"),
        (RULE + "actions = ['click']\nside_effects = ['read']", "could never hold", "clash"),
        (RULE + "drivers = ['person']\ntools = ['press']", "could never hold", "agent or a model"),
        (RULE + RULE, "two rules are named 'x'", "which one"),
        ("[policy]\nrules = 3", "policy.rules are tables", "docs"),
        ("[policy]\nrules = [3]", "policy.rules are tables", "[[policy.rules]]"),
        ("[secrets.password]\nvalue = 'x'", "line 2: a secret has no 'value'", "source"),
        ("[secrets.password]", "the source of password is not one", "env:VARIABLE"),
        ("[secrets.password]\nsource = ''", "line 2: the source", "env:VARIABLE"),
        ("[secrets.password]\nsource = 'env:'", "line 2: the source of password", "not the value"),
        ("[secrets.p]\nsource = 'env:X@https://a.example'", "line 2: the source", "not the value"),
        ("[secrets.p]\nsource = 'prompt'\norigins = []", "line 3: with no origins", "leave"),
        ("[secrets.p]\nsource = 'prompt'\norigins = ['a.example']", "line 3", "https://host"),
        ("[secrets.p]\nsource = 'prompt'\norigins = ['http://a.example']", "line 3", "private"),
        ("[secrets.p]\nsource = 'prompt'\norigins = 'https://a'", "list of texts", "docs"),
        ("[secrets.'a b']\nsource = 'prompt'", "'a b' is no secret's table", "[secrets.name]"),
        ("secrets = 3", "secrets are tables", "[secrets.name]"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_the_key_and_the_line(
    tmp_path: Path, text: str | bytes, wrong: str, fix: str
) -> None:
    refused = refusal(tmp_path, text)
    assert str(tmp_path / "config.toml") in refused.what
    assert wrong in refused.what
    assert fix in refused.fix


def test_a_value_in_place_of_a_source_is_not_repeated(tmp_path: Path) -> None:
    refused = refusal(tmp_path, "[secrets.password]\nsource = 'hunter2-and-more'")
    assert "hunter2" not in str(refused)
    assert "not the value" in refused.fix


@for_each("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "config.toml"
    file.write_text("")
    file.chmod(mode)
    with pytest.raises(BadInput, match="can be written by others") as caught:
        read_config(None, tmp_path, NOBODY)
    assert caught.value.fix == f"chmod go-w {file}"
    file.chmod(0o644)
    assert read_config(None, tmp_path, NOBODY).file == file


def test_a_file_in_a_folder_of_everybody_is_refused(tmp_path: Path) -> None:
    around = tmp_path / "shared"
    around.mkdir()
    (around / "config.toml").write_text("")
    (around / "config.toml").chmod(0o600)
    around.chmod(0o777)
    with pytest.raises(BadInput, match="can be written by anybody"):
        read_config(None, around, NOBODY)
    around.chmod(0o777 | stat.S_ISVTX)  # there nobody can replace what is another's
    assert read_config(None, around, NOBODY).file == around / "config.toml"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_config(str(tmp_path / "none.toml"), tmp_path, NOBODY)
    with pytest.raises(BadInput, match="is no file"):
        read_config(str(tmp_path), tmp_path, NOBODY)


@for_each(
    "variable, said, wrong, fix",
    [
        ("AGENT_INTERNAL_MAX_STEP", "3", "no variable", "did you mean AGENT_INTERNAL_MAX_STEPS?"),
        ("BROWSER_POOLSIZE", "3", "no variable", "did you mean BROWSER_POOL_SIZE?"),
        ("RUTTER_POLICY_COLOUR", "3", "no variable RUTTER_POLICY_COLOUR", "unset it"),
        ("RUTTER_HOME", "/x", "no variable RUTTER_HOME", "RUTTER_CONFIG, "),
        ("RUTTER_VERBOSE", "", "no variable RUTTER_VERBOSE", "RUTTER_DATA, "),
        ("RUTTER_CONFG", "x", "no variable", "did you mean RUTTER_CONFIG?"),
        ("AGENT_GHOST_ENABLED", "yes", "AGENT_GHOST_ENABLED is not true or false", "export"),
        ("AGENT_GHOST_ENABLED", "TRUE", "is not true or false", "export"),
        ("AGENT_GHOST_ENABLED", "", "is not true or false", "unset"),
        ("AGENT_INTERNAL_MAX_STEPS", "12.0", "is not a whole number", "export"),
        ("AGENT_INTERNAL_MAX_STEPS", " 12", "is not a whole number", "export"),
        ("AGENT_INTERNAL_MAX_STEPS", "1e3", "is not a whole number", "export"),
        ("AGENT_INTERNAL_MAX_STEPS", "\u0663", "is not a whole number", "export"),
        ("AGENT_INTERNAL_MAX_STEPS", "0", "is 0", "from 1 to 999"),
        ("BROWSER_STREAM_QUALITY", "0", "is 0", "from 1 to 100"),
        ("RUTTER_RUN_THRESHOLD", "nan", "is not a number", "export"),
        ("RUTTER_RUN_THRESHOLD", "2", "is 2.0", "from 0 to 1"),
        ("RUTTER_POLICY_ALLOWED_DOMAINS", "", "is not texts with commas", "unset"),
        ("RUTTER_POLICY_ALLOWED_DOMAINS", "a.example,", "says nothing", "take it out"),
        ("RUTTER_POLICY_ALLOWED_DOMAINS", "http://a", "'http://a' is no host", "host:port"),
        ("RUTTER_POLICY_REDACTION", "false", "cannot be false", "always"),
        ("AGENT_INTERNAL_ENABLED", "true", "names no tool", "name each tool"),
        ("AGENT_PROVIDER", "x", "there is no 'x'", "anthropic"),
        ("RUTTER_MODELS_OPENAI_INPUT_PRICE", "1e3", "is not a number of dollars", "export"),
        ("RUTTER_MODELS_OPENAI_BASE_URL", "http://a.example", "has no https", "https://"),
        ("RUTTER_MODELS_OLLAMA_KEY", "env:X", "no variable", "RUTTER_MODELS_OLLAMA_"),
    ],
)
def test_a_variable_is_read_as_strictly_as_the_file(
    tmp_path: Path, variable: str, said: str, wrong: str, fix: str
) -> None:
    refused = refusal(tmp_path, "", **{variable: said})
    assert variable in refused.what
    assert wrong in refused.what
    assert fix in refused.fix


def test_variables_of_others_are_left_alone(tmp_path: Path) -> None:
    others = {"AGENT_NAME": "x", "BROWSER": "firefox", "BROWSER_PATH": "/x", "RUTTER_SOAK": "1"}
    others |= {"AGENT_INTERNAL_IP": "10.0.0.1", "BROWSER_STREAM_KIND_OF_X": "x", "AGENT_ID": "1"}
    assert read(tmp_path, "", **others, MY_SECRET="y").values == {}


# -- what holds ------------------------------------------------------------------------------------


def test_with_nothing_said_everything_is_as_it_was(tmp_path: Path) -> None:
    config = read_config(None, tmp_path, NOBODY)
    assert config.file is None
    assert base_policy(config) == DEFAULT_POLICY
    assert config.limits == Limits()
    plain = RunSettings()
    assert msgspec.structs.replace(plain, **config.knobs) == plain
    assert config.sureness == Thresholds("foresight", 700_000, 500_000)


@for_each("text", ["", "[run]\nproof = 'acknowledged'\n"])
def test_settings_are_the_same_bytes_whenever_they_are_written(tmp_path: Path, text: str) -> None:
    settings = msgspec.structs.replace(RunSettings(), **read(tmp_path, text).knobs)
    written = msgspec.msgpack.encode(settings)
    again = msgspec.msgpack.decode(written, type=RunSettings)
    assert msgspec.msgpack.encode(again) == written


def test_the_defaults_are_those_of_the_seeds() -> None:
    found = {
        name: NAMES[name].default
        for name in (
            "agent.internal.enabled",
            "agent.internal.max_steps",
            "agent.internal.max_wall_time_ms",
            "agent.internal.max_failures",
        )
    }
    assert list(found.values()) == [False, 12, 90_000, 3]
    variables = {
        "AGENT_GHOST_ENABLED": False,
        "AGENT_GHOST_AUTO_TRIGGER": True,
        "AGENT_GHOST_VISION_PROVIDER": "",
        "AGENT_GHOST_MAX_IMAGE_WIDTH": 1280,
        "BROWSER_POOL_SIZE": 1,
        "BROWSER_STREAM_ENABLED": False,
        "BROWSER_STREAM_QUALITY": 25,
        "BROWSER_STREAM_MAX_WIDTH": 854,
    }
    assert {name: VARIABLES[name].default for name in variables} == variables
    assert NAMES["critic.vision_enabled"].default is False
    assert NAMES["planner.use_llm"].default is True


def test_a_variable_stands_above_the_file_and_each_says_where_it_came_from(tmp_path: Path) -> None:
    text = "[policy]\nupload_mb = 3\ndownload_mb = 4\n"
    config = read(tmp_path, text, RUTTER_POLICY_UPLOAD_MB="5")
    assert config.said("policy.upload_mb") == SourcedValue(
        5, "the variable RUTTER_POLICY_UPLOAD_MB"
    )
    assert config.said("policy.download_mb") == SourcedValue(
        4, f"{tmp_path / 'config.toml'} line 3"
    )
    assert config.said("run.screenshots") == SourcedValue(False, "default")


def test_the_file_is_the_one_that_was_named_then_the_directory_s_then_the_platform_s(
    tmp_path: Path,
) -> None:
    places = [tmp_path / name for name in ("typed", "variable", "data", "platform")]
    for number, place in enumerate(places, 1):
        (place / "rutter").mkdir(parents=True)
        for file in (place / "config.toml", place / "rutter" / "config.toml"):
            file.write_text(f"policy.upload_mb = {number}")
            file.chmod(0o600)
    typed, variable, data, platform = places
    env = {"XDG_CONFIG_HOME": str(platform)}
    named = {**env, "RUTTER_CONFIG": str(variable / "config.toml")}

    def uploads(typed: str | None, data: Path, env: Mapping[str, str]) -> int:
        return read_config(typed, data, env).number("policy.upload_mb")

    assert uploads(str(typed / "config.toml"), data, named) == 1
    assert uploads(None, data, named) == 2
    assert uploads(None, data, env) == 3
    assert uploads(None, tmp_path / "empty", env) == 4


def test_the_commented_file_is_the_defaults_whether_read_as_it_is_or_without_its_marks(
    tmp_path: Path,
) -> None:
    text = commented()
    assert read(tmp_path, text).values == {}
    bare = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
    raw = tomllib.loads(bare)
    assert raw["policy"]["rules"]
    config = read(tmp_path, bare)
    assert set(config.values) == {key.name for key in KEYS}
    for key in KEYS:
        if key.default is not None:
            assert config.said(key.name).value == key.default
    assert config.secrets["password"] == SecretGiven("env:SHOP_PASSWORD", ("https://shop.example",))


def test_what_a_run_is_set_to(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "[run]\nthreshold = 0.9\nsuggest = 0.25\nsettle_ms = 250\n"
        "[controller]\nexecution_delay = 0.5\n"
        "[critic]\nvision_enabled = true\n[agent.internal]\nmax_steps = 5\n",
    )
    assert config.sureness == Thresholds("foresight", 900_000, 250_000)
    assert config.knobs["settle_ms"] == 250
    assert (config.knobs["execution_delay_ms"], config.knobs["vision"]) == (500, True)
    assert config.limits == Limits(max_steps=5)


def test_a_threshold_that_nobody_set_is_that_of_the_model(tmp_path: Path) -> None:
    counting = read(tmp_path, "[run]\npredictor = 'markov2'\n")
    assert counting.said("run.threshold") == SourcedValue(0.5, "default of markov2")
    assert counting.sureness == Thresholds("markov2", 500_000, 500_000)
    by_variable = read(tmp_path, "", RUTTER_RUN_PREDICTOR="markov2", RUTTER_RUN_SUGGEST="0.4")
    assert by_variable.sureness == Thresholds("markov2", 500_000, 400_000)
    said = read(tmp_path, "[run]\nthreshold = 0.8\n", RUTTER_RUN_PREDICTOR="markov2")
    assert said.sureness == Thresholds("markov2", 800_000, 500_000)
    foresight = read(tmp_path, "[run]\npredictor = 'foresight'\n")
    assert foresight.said("run.threshold").value == 0.7


def test_models_are_configured_by_the_file_and_by_variables(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "[agent]\nfallbacks = ['ollama']\n[models.anthropic]\nmodel = 'm'\ninput_price = 0.25\n"
        "output_price = 1\n",
        AGENT_PROVIDER="openai",
        RUTTER_MODELS_OPENAI_MODEL="n",
        RUTTER_MODELS_ANTHROPIC_OUTPUT_PRICE="1.5",
    )
    assert config.providers == ("openai", "ollama")
    assert (config.text("models.openai.model"), config.text("models.anthropic.model")) == ("n", "m")
    assert config.dollars("models.anthropic.input_price") == 250_000
    assert config.dollars("models.anthropic.output_price") == 1_500_000
    assert config.dollars("models.anthropic.kept_price") is None
    assert read(tmp_path, "").providers == ("anthropic",)


# -- policy ----------------------------------------------------------------------------------------


def test_the_policy_is_what_the_file_says(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "[policy]\nallowed_domains = ['shop.example', '10.0.0.0/8']\nallowed_resources = []\n"
        "denylist = ['nuke']\napproval_time_limit_ms = 60000\nupload_mb = 1\n"
        "detect_secrets = false\n"
        "[[policy.rules]]\nname = 'no refunds'\neffect = 'deny'\nsays = ['refund']\n"
        "[secrets.password]\nsource = 'prompt'\norigins = ['https://Shop.example:443/']\n",
    )
    policy = base_policy(config)
    assert policy.hosts == ("shop.example", "10.0.0.0/8")
    assert (policy.public_hosts, policy.public_resources) == (False, False)
    assert (policy.denylist, policy.approval_ms, policy.upload_mb) == (("nuke",), 60_000, 1)
    assert not policy.detect_secrets
    assert policy.rules == (PolicyRule("no refunds", "deny", says=("refund",)),)
    assert policy.secret_origins == (("password", "https://shop.example"),)


def test_an_empty_allowlist_means_nothing_and_a_star_every_public_host(tmp_path: Path) -> None:
    nothing = base_policy(read(tmp_path, "policy.allowed_domains = []"))
    assert (nothing.hosts, nothing.public_hosts) == ((), False)
    config = read(tmp_path, "policy.allowed_domains = ['*', 'localhost:9']")
    everything = base_policy(config)
    assert (everything.hosts, everything.public_hosts) == (("*", "localhost:9"), True)
    assert config.everywhere


def test_a_version_says_what_the_content_is(tmp_path: Path) -> None:
    texts = [
        "",
        "policy.upload_mb = 49",
        "policy.download_mb = 49",
        "policy.denylist = []",
        "policy.allowed_domains = []",
        "policy.allowed_resources = []",
        "policy.allowed_domains = ['a.example']",
        "policy.allowed_resources = ['a.example']",
        "policy.detect_secrets = false",
        "policy.approval_time_limit_ms = 1",
        RULE,
        RULE.replace("deny", "ask"),
        "[secrets.p]\nsource = 'prompt'\norigins = ['https://a.example']",
    ]
    versions = [base_policy(read(tmp_path, text)).version for text in texts]
    assert versions[0] == "1"
    assert len(set(versions)) == len(texts)
    assert all(re.fullmatch(r"1-[0-9a-f]{8}", version) for version in versions[1:])


@given(st.lists(st.sampled_from(DENYLIST), unique=True), st.integers(1, 99))
def test_equal_content_has_an_equal_version_and_no_other(words: list[str], uploads: int) -> None:
    values = {
        "policy.denylist": SourcedValue(tuple(words)),
        "policy.upload_mb": SourcedValue(uploads),
    }
    policy = base_policy(Config(values))
    again = base_policy(Config(dict(reversed(values.items()))))
    assert policy == again
    same = msgspec.structs.replace(policy, version="1") == DEFAULT_POLICY
    assert (policy.version == "1") is same


# -- secrets ---------------------------------------------------------------------------------------


def test_a_secret_that_is_configured_need_not_be_given_again() -> None:
    known = {"password": SecretGiven("env:SHOP"), "pin": SecretGiven("prompt")}
    assert configured_pairs([], known, ["password", "other"]) == ["password=env:SHOP"]
    assert configured_pairs(["pin"], known) == ["pin=prompt"]
    given = ["password=file:x@https://a.example"]
    assert configured_pairs(given, known, ["password"]) == given
    with pytest.raises(BadInput, match="the configuration has no secret 'code'"):
        configured_pairs(["code"], known)

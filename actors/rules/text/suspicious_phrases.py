"""Words by which texts address a model and not a reader, as data. See `untrusted.py` for the use.

A rule's parts follow each other, in this order, within a number of words; each is a list of words
as they are written small. In writing without spaces every sign is a word.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    name: str
    within: int
    parts: tuple[frozenset[str], ...]


def _rule(name: str, within: int, *parts: str) -> Rule:
    return Rule(name, within, tuple(frozenset(part.split()) for part in parts))


def _signs(name: str, *texts: str, within: int = 14) -> list[Rule]:
    return [_rule(name, within, *text) for text in texts]


_FORGET = "ignore ignoring disregard forget override overrule discard bypass neglect supersede"
_ORDERS = """instruction instructions prompt prompts rule rules direction directions guideline
  guidelines command commands context directive directives policy policies"""
_TELL = "tell inform mention telling asking notify alert"
_MACHINE = "ai llm agent agents assistant assistants model models bot bots"
_SECRETS = "password passwords secret secrets credentials token cookie cookies key keys history"
_BEFORE = "previous prior above earlier preceding former all any your existing original"

RULES: tuple[Rule, ...] = (
    # -- everything before does not count
    _rule("override", 8, _FORGET, _BEFORE, _ORDERS),
    _rule("override", 8, _FORGET, _ORDERS, "above before previously"),
    _rule("override", 8, "new updated real actual true following", _ORDERS, "follow obey execute"),
    _rule(
        "override",
        8,
        "ignoriere ignorieren ignoriert vergiss vergessen missachte missachten verwirf",
        "anweisung anweisungen instruktion instruktionen regeln befehle vorgaben prompt",
    ),
    _rule(
        "override",
        8,
        "ignore ignorez ignorer oublie oubliez oublier",
        "instruction instructions consignes règles directives",
        "précédentes précédente antérieures ci dessus",
    ),
    _rule("override", 8, "oublie oubliez", "instructions consignes"),
    _rule(
        "override",
        8,
        "ignora ignore ignorar olvida olvide olvidar omite descarta",
        "instrucciones órdenes reglas indicaciones",
    ),
    _rule(
        "override",
        8,
        "ignora ignorate dimentica dimenticate scarta",
        "istruzioni regole ordini direttive",
    ),
    _rule(
        "override",
        8,
        "ignore ignora ignorar esqueça esquece desconsidere",
        "instruções regras ordens diretrizes",
    ),
    _rule("override", 8, "negeer vergeet", "instructies aanwijzingen regels opdrachten"),
    _rule("override", 8, "zignoruj ignoruj zapomnij pomiń", "instrukcje polecenia zasady reguły"),
    _rule(
        "override",
        8,
        "игнорируй игнорируйте проигнорируй забудь забудьте",
        "инструкции инструкций указания указаний правила команды",
    ),
    _rule("override", 8, "önceki tüm bütün", "talimatlar\u0131 kurallar\u0131", "unut yoksay"),
    _rule("override", 8, "تجاهل انس", "التعليمات الأوامر القواعد"),
    *_signs("override", "忽略指令", "无视指令", "忘记指令", "忽略指示", "無視指令", "忽略提示"),
    *_signs("override", "指示無視", "命令無視", "指示忘"),
    *_signs("override", "지시무시", "명령무시", "지침무시"),
    # -- what was set up for the model
    _rule("prompt", 3, "system developer", "prompt instructions"),
    _rule("prompt", 8, "reveal print repeat show output leak", "your", "prompt instructions"),
    _rule("prompt", 6, "systemprompt systemanweisung"),
    _rule("prompt", 5, "invite prompt mensaje messaggio mensagem", "système sistema"),
    _rule("prompt", 5, "системный системное", "промпт сообщение"),
    *_signs("prompt", "系统提示", "系統提示", "システムプロンプト", "시스템프롬프트", within=10),
    # -- somebody else from now on
    _rule("role", 6, "you", "are", "now", "mode dan admin root unrestricted developer evil"),
    _rule("role", 5, "pretend roleplay", "you to", "are be"),
    _rule("role", 2, "jailbreak god dan", "mode"),
    _rule("role", 6, "du", "bist", "jetzt"),
    _rule("role", 6, "vous", "êtes", "maintenant", "administrateur développeur en"),
    _rule("role", 6, "ahora", "eres"),
    _rule("role", 6, "sei", "ora", "un una in"),
    _rule("role", 6, "ты", "теперь"),
    *_signs("role", "你现在是", "你現在是", "あなたは今", within=8),
    # -- addressed to whoever acts
    _rule("addressed", 4, "note message attention important instructions", "to for", _MACHINE),
    _rule("addressed", 6, "if", "you", "are", "ai llm agent bot language automated"),
    _rule("addressed", 4, "hinweis nachricht achtung", "für an", "ki llm agenten assistenten"),
    _rule("addressed", 5, "note message attention", "aux à pour", "agents ia assistants"),
    _rule("addressed", 5, "nota mensaje atención", "para a", "agentes ia asistentes"),
    # -- nobody is to know
    _rule("secrecy", 8, "not don never without", _TELL, "user human operator"),
    _rule("secrecy", 8, "sage erwähne informiere", "nutzer benutzer anwender", "nicht nichts"),
    _rule("secrecy", 8, "sage erwähne informiere", "nicht nichts", "nutzer benutzer anwender"),
    _rule("secrecy", 8, "dites dis informez", "pas rien", "utilisateur"),
    _rule("secrecy", 8, "no", "digas diga informes menciones", "usuario"),
    _rule("secrecy", 8, "non", "dire informare", "utente"),
    _rule("secrecy", 8, "не", "говори говорите сообщай", "пользователю"),
    *_signs("secrecy", "不要告诉用户", "不要告訴用戶", "ユーザーに伝え", within=12),
    # -- something is to leave
    _rule("exfiltration", 3, "exfiltrate exfiltrating"),
    _rule(
        "exfiltration", 10, "send post forward upload transmit append", _SECRETS, "to http https"
    ),
    _rule("exfiltration", 10, "sende schicke poste", "passwort kennwort geheimnis zugangsdaten"),
    _rule("exfiltration", 10, "envoie envoyez", "passe secret identifiants", "à vers http https"),
    _rule("exfiltration", 10, "envía envíe", "contraseña secreto credenciales", "a http https"),
    _rule("exfiltration", 10, "invia", "password segreto credenziali", "a http https"),
    _rule("exfiltration", 10, "отправь", "пароль секрет данные"),
    *_signs("exfiltration", "发送密码", "發送密碼", "パスワード送信", within=16),
    # -- something is to be done at once
    _rule("urged", 8, "must silently", "click press", "button delete pay confirm"),
    _rule("urged", 8, "klicke drücke", "sofort"),
    _rule("urged", 8, "haz pulsa", "clic", "inmediatamente ahora"),
)

# What is written like the frame of a conversation and not like its words; casefolded.
SIGNS: dict[str, tuple[str, ...]] = {
    "role_marker": (
        "<|im_start|>",
        "<|im_end|>",
        "<|system|>",
        "<|endoftext|>",
        "<|start_header_id|>",
        "[inst]",
        "[/inst]",
        "<<sys>>",
        "<system>",
        "</system>",
        "<assistant>",
        "### instruction",
        "### system",
        "\nsystem:",
        "\nassistant:",
        "\n\nhuman:",
        "[system]",
        "(system):",
        "begin system",
    ),
    "tool_call": (
        "<tool_call>",
        "<function_call",
        "<invoke ",
        '"tool_calls"',
        '"function_call"',
        '"tool":',
        '{"name": "browser_',
        '{"tool',
        "browser_click(",
        "browser_fill(",
        "browser_click {",
        "request_human_approval",
        "complete_task",
        "get_snapshot",
    ),
    "beacon": ("](http://", "](https://", "](data:", "<img src=http", '<img src="http'),
}

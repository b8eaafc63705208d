"""Examples show what to type, for `--help` and for the pages of docs/commands/. A test types every
one."""

EXAMPLES = {
    "login": """examples:
  rutter login https://shop.example                  a window to sign in with; Enter here keeps it
  rutter login https://shop.example --until url=/account
  rutter login https://shop.example --script in.json --secret password=env:SHOP_PASSWORD
  rutter login --list
  rutter login --forget https://shop.example""",
    "demo": """examples:
  rutter demo                     record, learn, sail alone, verify, replay, trace
  rutter --data ~/demo demo       and keep what it left""",
    "record": """examples:
  rutter record order --url https://shop.example     a window to work in; closing it ends it
  rutter record order --script order.json --param customer="Aurora Shipping" \\
      --secret password=env:SHOP_PASSWORD            from a Chrome DevTools Recorder file
  rutter record order --script order.json --allow 127.0.0.1:8000""",
    "run": """examples:
  rutter run order --set customer="Juniper Tankers" --secret password=env:SHOP_PASSWORD
  rutter run order --rows orders.csv                 one run for each row; again: what is not done
  rutter run order --results ./orders                what it read and downloaded, as files
  rutter run order --dry-run                         stops before anything irreversible
  rutter run order --headed                          in a window that you can watch
  rutter run --from last                             goes on where that one ended
  rutter run --free --url https://shop.example       wherever it is sure
  rutter run --goal "cancel my subscription" --url https://stream.example --service streaming""",
    "init": """examples:
  rutter init                                        where things are
  rutter --data ~/work init                          the same for another directory""",
    "config": """examples:
  rutter config                                      every value and where it came from
  rutter config show --json""",
    "sessions": """examples:
  rutter sessions                                    the last twenty
  rutter sessions --last 500 --json""",
    "show": """examples:
  rutter show last                                   the last session, step by step
  rutter show 4f1a09bc                               by the end of its name
  rutter show last --at 40                           as it was after its event 40""",
    "results": """examples:
  rutter results                                     what the last session read, as a table
  rutter results last --format csv > orders.csv
  rutter results 4f1a09bc --format csv --table orders
  rutter results last --out ./orders                 values, tables and downloads as files""",
    "transitions": """examples:
  rutter transitions
  rutter transitions --top 50 --json""",
    "metrics": """examples:
  rutter metrics                                     how well it does
  rutter metrics --picture sure.svg                  how sure it was, and how right
  rutter metrics --error-rate 0.01                   the threshold for one wrong in a hundred""",
    "replay": """examples:
  rutter replay                                      everything; exit code 1 at a divergence
  rutter replay last
  rutter replay last --threshold 0.5                 what if it had dared more
  rutter replay --what-if stricter.toml
  rutter replay --curve thresholds.svg               what each threshold would have done""",
    "report": """examples:
  rutter report last --out order.html                one file, to share""",
    "fork": """examples:
  rutter fork last --at 4                            its first four steps again, and then on
  rutter fork last --at 4 --set customer="Juniper Tankers\"""",
    "stop": """examples:
  rutter stop last                                   ends it, in a true state""",
    "pause": """examples:
  rutter pause last                                  holds it: take over in its window
  rutter resume last                                 hands it back""",
    "resume": """examples:
  rutter resume last""",
    "approvals": """examples:
  rutter approvals                                   what waits for a person
  rutter approvals --answer                          asks you each of them, one by one""",
    "trace": """examples:
  rutter trace last --file trace.json                as OTLP JSON lines
  rutter trace --otlp http://127.0.0.1:4318          all that was not delivered yet""",
    "models": """examples:
  rutter models                                      who may be asked
  rutter models check                                asks each of them a word""",
    "doctor": """examples:
  rutter doctor                                      is everything here
  rutter doctor --fix                                and mend what can be mended""",
    "completion": """examples:
  eval "$(rutter completion bash)"                   in ~/.bashrc
  rutter completion zsh > ~/.zfunc/_rutter           in a directory of $fpath
  rutter completion fish > ~/.config/fish/completions/rutter.fish""",
}

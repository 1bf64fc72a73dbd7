#!/usr/bin/env bash
# Switches a light of the smart home on, if it is off, and signs in before that, if it must: a shell script that drives the
# shared browser by JSON lines, and decides by what it is told. It needs bash 4.
#
#   python -m examples.smart_home &
#   examples/light.sh http://127.0.0.1:8900 cocina
set -euo pipefail
home=$1 light=$2

coproc BROWSER { exec mcp-gateway --transport jsonl; }
gateway=$BROWSER_PID # bash forgets it when the gateway has ended

hear() { IFS= read -r -t 60 reply <&"${BROWSER[0]}"; }

# Calls a tool with these arguments, and leaves the reply in $reply.
id=0
call() {
    printf '{"type":"call","id":%d,"tool":"%s","args":%s}\n' "$((id += 1))" "$1" "$2" >&"${BROWSER[1]}"
    hear
    if [[ $reply != '{"type":"result"'* ]]; then
        printf '%s\n' "$reply" >&2
        exit 1
    fi
}

# Says whether the light is on.
is_on() {
    call evaluate_script '{"pageId":"light","expression":"document.getElementById('"'light-$light'"').ariaChecked"}'
    [[ $reply == *'"value":"true"'* ]]
}

hear # ready, and the tools that there are
call goto '{"pageId":"light","url":"'"$home"'"}'
if [[ $reply == *'/login"'* ]]; then
    call fill '{"pageId":"light","selector":"#username","value":"ana"}'
    call fill '{"pageId":"light","selector":"#password","value":"casa"}'
    call click '{"pageId":"light","selector":"role=button[name=\"Log in\"]"}'
fi
if is_on; then
    echo "$light was on already"
else
    call click '{"pageId":"light","selector":"#light-'"$light"'"}'
    is_on && echo "$light is on now"
fi
call close_page '{"pageId":"light"}'

echo '{"type":"quit"}' >&"${BROWSER[1]}"
wait "$gateway"

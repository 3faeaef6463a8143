# Completion of `compute` for bash. Load it in ~/.bashrc:
#   source <(compute completion bash)

_compute_words() {
    # The words up to the cursor, in the array `words`. Bash splits at = and : as well; they belong together.
    local i part joined=
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        if [[ $part =~ ^[=:]+$ && $i -gt 1 ]]; then
            words[${#words[@]} - 1]+=$part
            joined=1
        elif [[ -n $joined ]]; then
            words[${#words[@]} - 1]+=$part
            joined=
        else
            words+=("$part")
        fi
    done
}

_compute() {
    local words line lines=() directive current
    _compute_words
    while IFS= read -r line; do
        lines+=("$line")
    done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
    ((${#lines[@]})) || return
    directive=${lines[${#lines[@]} - 1]#:}
    unset "lines[${#lines[@]} - 1]"

    current=${words[${#words[@]} - 1]}
    [[ $current == -*=* ]] && current=${current#*=}
    # Of a word with a colon, bash replaces only what follows the last one.
    local kept=
    [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && kept=${current%"${current##*:}"}

    COMPREPLY=()
    for line in "${lines[@]}"; do
        # 63: the candidates are only listed. Descriptions help there, and nowhere else.
        if [[ $COMP_TYPE == 63 && ${#lines[@]} -gt 1 && $line == *$'\t'* ]]; then
            line="${line%%$'\t'*}  (${line#*$'\t'})"
            line=${line:0:${COLUMNS:-80}}
        else
            line=${line%%$'\t'*}
        fi
        COMPREPLY+=("${line#"$kept"}")
    done

    case $directive in
    0) compopt -o default ;;
    16) compopt -o dirnames ;;
    esac
}

complete -o nosort -F _compute compute

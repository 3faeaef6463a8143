#compdef compute
# Completion of `compute` for zsh. Load it in ~/.zshrc, after compinit:
#   source <(compute completion zsh)

_compute() {
    local -a lines candidates
    local line value directive
    lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    directive=${lines[-1]#:}
    for line in "${(@)lines[1,-2]}"; do
        value=${line%%$'\t'*}
        value=${value//:/\\:}
        if [[ $line == *$'\t'* ]]; then
            candidates+=("$value:${line#*$'\t'}")
        else
            candidates+=("$value")
        fi
    done
    # After --flag= only the value is completed.
    [[ $words[CURRENT] == -*=* ]] && compset -P '*='
    (($#candidates)) && _describe -V compute candidates && return
    case $directive in
    0) _files ;;
    16) _files -/ ;;
    esac
}

if [[ $funcstack[1] == _compute ]]; then
    _compute "$@"
else
    compdef _compute compute
fi

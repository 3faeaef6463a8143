# Completion of `compute` for fish. Load it once for all shells:
#   compute completion fish > ~/.config/fish/completions/compute.fish

function __compute_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] __complete $words[2..-1] $current 2>/dev/null)
    test (count $lines) -gt 0; or return
    # fish expects whole words: --flag= stays before each value.
    set -l flag (string match -r -- '^-[^=]*=' "$current")
    for line in $lines[1..-2]
        echo "$flag$line"
    end
    test (count $lines) -eq 1; or return
    switch $lines[-1]
        case ':0'
            __fish_complete_path "$current"
        case ':16'
            __fish_complete_directories "$current" ''
    end
end

complete -c compute -e
complete -c compute -f -a '(__compute_complete)'

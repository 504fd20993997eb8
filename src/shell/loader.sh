# shellcheck shell=bash disable=SC2154 # what is set by the lines of ours, and in traps
# What a persistent bash is told before its first command (live.c). Every command then comes at top level,
# handed over by a builtin (step.c): no loop that 'break' could leave, no function that would make 'declare'
# local. It is evaluated in a file that is sourced, so that 'return' ends the command and not the shell.

# How a command is stopped from outside: each function and each sourced file that is under way returns
# before its next step, until we are back at top level.
__gb_unwind() {
    [[ ${FUNCNAME[1]-} != __gb_go_on ]] || return 0
    ((${#FUNCNAME[@]} < 2)) || return 2
}

# Also for one that was to be stopped and was over already: the next is not meant.
__gb_go_on() {
    builtin trap - DEBUG
    builtin shopt -u extdebug
    builtin set +T
    builtin unset -v __gb_stopped
}

# The shell ends, by 'exit', by an error under 'set -e' or the like: what it holds goes into a file,
# from which the next one begins.
__gb_carry() {
    local __gb_name
    [[ $BASHPID == "$$" ]] || return 0
    builtin set +eux
    {
        while IFS= builtin read -r __gb_name; do
            case $__gb_name in
            __gb_* | BASH | BASH_* | BASHOPTS | BASHPID | SHELLOPTS | EUID | UID | PPID | \
                FUNCNAME | GROUPS | DIRSTACK | PIPESTATUS | LINENO | RANDOM | SRANDOM | SECONDS | \
                EPOCH* | COMP_* | OPTIND | OPTERR | OPTARG | HOSTTYPE | MACHTYPE | OSTYPE | _) ;;
            *) builtin declare -p "$__gb_name" ;;
            esac
        done < <(builtin compgen -v)
        builtin declare -f
        builtin alias -p
        builtin umask -p
        builtin trap -p HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD
        builtin shopt -p
        builtin printf 'builtin cd -- %q\n' "$PWD"
        builtin printf '%s\n' "$__gb_options"
        # What a substitution does not inherit.
        [[ $__gb_flags != *e* ]] || builtin printf 'builtin set -e\n'
        builtin printf '#%s\n' "$__gb_mark"
    } >"$__gb_dir/state" 2>/dev/null
}
# Both come too late where no command is under way.
builtin trap '[[ -z ${__gb_cmd+x} ]] || { __gb_stopped=1; \builtin shopt -s extdebug; \builtin set -T; \builtin trap __gb_unwind DEBUG; \builtin return 130; }' RTMAX-3
builtin trap '[[ -z ${__gb_cmd+x} ]] || \builtin exit 130' RTMAX-4
builtin trap '__gb_flags=$-; __gb_options=$(\builtin shopt -po); __gb_carry' EXIT
builtin set -m

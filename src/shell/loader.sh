# shellcheck shell=bash disable=SC2154 # what is set by the lines of ours, and in traps
# What a persistent bash is told before its first command (live.c). Every command then comes at top level,
# handed over by a builtin (step.c): no loop that 'break' could leave, no function that would make 'declare'
# local. It is evaluated in a file that is sourced, so that 'return' ends the command and not the shell.

# How a command is stopped from outside: each function and each sourced file that is under way returns
# before its next step, until we are back at top level.
__gb_unwind() {
    [[ ${FUNCNAME[1]-} != __gb_go_on ]] && ! __gb is_leaving || return 0
    ((${#FUNCNAME[@]} < 2)) || return 2
}

# Also for one that was to be stopped and was over already: the next is not meant.
__gb_go_on() {
    local __gb_flag __gb_flags=$__gb_stopped
    builtin trap - DEBUG
    builtin shopt -u extdebug
    builtin set +T
    builtin unset -v __gb_stopped
    for __gb_flag in E T e x; do
        [[ $__gb_flags != *$__gb_flag* ]] || builtin set "-$__gb_flag"
    done
}

__gb_tell() {
    case $1 in
    __gb_* | BASH | BASH_* | BASHOPTS | BASHPID | SHELLOPTS | EUID | UID | PPID | \
        FUNCNAME | GROUPS | DIRSTACK | PIPESTATUS | LINENO | RANDOM | SRANDOM | SECONDS | \
        EPOCH* | COMP_* | OPTIND | OPTERR | OPTARG | HOSTTYPE | MACHTYPE | OSTYPE | _) ;;
    *) builtin declare -p "$1" ;;
    esac
}

# The shell ends, by 'exit', by an error under 'set -e' or the like: what it holds goes into a file,
# from which the next one begins. Nothing here starts a process: those of a command that is to be stopped
# are being killed.
__gb_carry() {
    local __gb_flag
    [[ $BASHPID == "$$" ]] || return 0
    builtin set +eux
    {
        __gb each __gb_tell
        builtin shopt -p # some functions cannot be read without
        builtin declare -f
        builtin alias -p
        builtin umask -p
        builtin trap -p HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD
        builtin printf 'builtin cd -- %q\n' "$PWD"
        builtin shopt -po
        for __gb_flag in e u x; do
            [[ $__gb_flags != *$__gb_flag* ]] || builtin printf 'builtin set -%s\n' "$__gb_flag"
        done
        builtin printf '#%s\n' "$__gb_mark"
    } >|"$__gb_dir/state"
}
# Both come too late where no command is under way, or the shell ends already.
builtin trap '{ [[ -z ${__gb_cmd+x} ]] || __gb is_leaving || { __gb_stopped=$-; \builtin set +ex; \builtin shopt -s extdebug; \builtin set -T; \builtin trap __gb_unwind DEBUG; }; } 2>/dev/null; [[ -z ${__gb_stopped-} ]] || \builtin return 130' RTMAX-3
builtin trap '{ [[ -z ${__gb_cmd+x} ]] || __gb is_leaving || \builtin exit 130; } 2>/dev/null' RTMAX-4
# The descriptors are still those of the command, which has nothing to do with this.
builtin trap '{ \builtin exec >/dev/null 2>&1; [[ -z ${__gb_stopped-} ]] || __gb_go_on; __gb_flags=$-; __gb_carry; } >/dev/null 2>&1' EXIT
builtin set -m

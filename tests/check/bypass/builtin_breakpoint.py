# A builtin that starts a debugger.
# reaches: builtins.breakpoint
REACHED = breakpoint

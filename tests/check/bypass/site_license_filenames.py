# The object license, whose file names can be replaced: it prints any file.
# reaches: builtins.license
license._Printer__filenames = ["/etc/hostname"]
REACHED = license

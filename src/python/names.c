#include "python/names.h"

#include <stddef.h>
#include <string.h>

#include "base/own.h"

static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
};

/* Of every version; exceptions are known by how they end. */
static const char *const builtins[] = {
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "copyright",
    "credits",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "Ellipsis",
    "NotImplemented",
    "KeyboardInterrupt",
    "SystemExit",
    "GeneratorExit",
    "StopIteration",
    "StopAsyncIteration",
    "ExceptionGroup",
    "BaseExceptionGroup",
    /* not builtins, but what a program with tools, or with displays, finds beside them */
    "call_tool",
    "display",
    "execute_code",
    "read_handle",
};

static bool has(const char *const *list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

bool name_is_variable(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return n > 0 && text[n] == '\0' && (text[0] < '0' || text[0] > '9') &&
           !has(keywords, ARRAY_LEN(keywords), text);
}

bool name_is_function(const char *text)
{
    static const char *const ends[] = { "Error", "Exception", "Warning" };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (text[0] >= 'A' && text[0] <= 'Z' && ends_with(text, ends[i]))
            return false;
    return name_is_variable(text) && strncmp(text, "__", 2) != 0 &&
           !has(builtins, ARRAY_LEN(builtins), text);
}

bool name_is_spaced(const char *text)
{
    const char *dot = strchr(text, '.');
    char space[128];

    if (!dot || (size_t)(dot - text) >= sizeof(space))
        return false;
    memcpy(space, text, (size_t)(dot - text));
    space[dot - text] = '\0';
    return name_is_function(space) && name_is_variable(dot + 1);
}

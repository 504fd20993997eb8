/* Says of each command on standard input, ended by NUL, whether it runs nothing but those that are
 * named as arguments: "no", "sh" (every shell reads it so) or "bash". */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "shell/commands.h"

int main(int argc, char **argv)
{
    json_t *allowed = json_array();
    char *text = NULL;
    size_t size = 0;
    ssize_t n;

    for (int i = 1; i < argc; i++)
        json_array_append_new(allowed, json_string(argv[i]));
    while ((n = getdelim(&text, &size, '\0', stdin)) > 0) {
        struct commands_verdict v;

        commands_check(text, (size_t)n - 1, allowed, &v);
        puts(!v.is_allowed ? "no" : v.is_bash ? "bash" : "sh");
    }
    free(text);
    json_decref(allowed);
    return 0;
}

#include "cli/colon.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/io.h"

bool colon_obey(const struct colon_word *words, size_t n, const char *line, void *data)
{
    size_t len = strcspn(line, " \t");

    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i].word) == len && strncmp(words[i].word, line, len) == 0) {
            words[i].say(data, line + len + strspn(line + len, " \t"));
            return true;
        }
    }
    return false;
}

static int longer(int width, const char *text)
{
    int len = (int)strlen(text);

    return len > width ? len : width;
}

void colon_help(const struct colon_word *words, size_t n, const char *more)
{
    int word = 0, operand = 0;
    struct text t;

    if (text_open(&t) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        word = longer(word, words[i].word);
        operand = longer(operand, words[i].operand);
    }
    for (size_t i = 0; i < n; i++)
        fprintf(t.stream, ":%-*s %-*s %s\n", word + 1, words[i].word, operand + 1, words[i].operand,
                words[i].summary);
    fprintf(t.stream, "%s\n", more);
    (void)!text_send(&t, STDOUT_FILENO);
}

#include "engine/discover.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/signature.h"

enum {
    WORDS_MAX = 8,
    LOOKED_AT = 400, /* bytes of a description: a program may search as often as it likes */
    WORD_MAX = 64,
    FOUND_MAX = 50,
    FOUND_USUAL = 10,
    LINE_MAX = 200
};

/* ---- words ---- */

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 128;
}

static char small(char c)
{
    return (char)tolower((unsigned char)c);
}

static bool begins_another(const char *at)
{
    return isupper((unsigned char)at[0]) && islower((unsigned char)at[-1]);
}

/* The next word of a text in lower case: letters and digits, and what is not ASCII. A capital
 * behind a small letter begins another ("readFile"). Returns the end of it; NULL: there is none. */
static const char *next_word(const char *at, char word[WORD_MAX])
{
    size_t n = 0;

    while (*at && !is_of_word(*at))
        at++;
    if (!*at)
        return NULL;
    while (is_of_word(*at)) {
        if (n > 0 && begins_another(at))
            break;
        if (n < WORD_MAX - 1)
            word[n++] = small(*at);
        at++;
    }
    word[n] = '\0';
    return at;
}

/* How well a text has a word: as a word of its own, or as the beginning of one. */
static double match(const char *text, const char *word)
{
    const char *end = text + LOOKED_AT;
    size_t len = strlen(word);
    char other[WORD_MAX];
    double best = 0;

    while (text && text < end && (text = next_word(text, other)) && best < 1) {
        if (strcmp(other, word) == 0)
            best = 1;
        else if (len > 2 && strncmp(other, word, len) == 0)
            best = best > 0.6 ? best : 0.6;
        else if (strlen(other) > 2 && strncmp(word, other, strlen(other)) == 0)
            best = best > 0.5 ? best : 0.5; /* "files" finds "file" */
    }
    return best;
}

/* ---- search ---- */

struct query {
    char words[WORDS_MAX][WORD_MAX];
    size_t n;
};

struct hit {
    const struct tool *tool;
    double by_word[WORDS_MAX];
    double score;
};

static double match_tool(const struct tool *t, const char *word)
{
    double score = 3 * match(t->name, word) + (t->description ? match(t->description, word) : 0);
    const char *name;
    json_t *schema;

    json_object_foreach (json_object_get(t->parameters, "properties"), name, schema) {
        double here = match(name, word);

        if (here > 0)
            return score + here;
    }
    return score;
}

/* Each tool's score: words that few tools have tell more. */
static void weigh(const struct query *q, struct hit *hits, size_t n)
{
    for (size_t w = 0; w < q->n; w++) {
        size_t have = 0;

        for (size_t i = 0; i < n; i++) {
            hits[i].by_word[w] = match_tool(hits[i].tool, q->words[w]);
            have += hits[i].by_word[w] > 0;
        }
        for (size_t i = 0; i < n; i++)
            hits[i].score += hits[i].by_word[w] * log(1 + ((double)n + 1) / ((double)have + 1));
    }
}

static int by_score(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return strcmp(x->tool->name, y->tool->name);
}

/* One line of text, which the caller drops. */
static json_t *line_of(const char *text)
{
    char *line = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&line, &len);
    json_t *out = NULL;

    if (!f)
        return NULL;
    signature_put_line(f, text ? text : "", LINE_MAX);
    if (fclose(f) == 0)
        out = json_string(line);
    free(line);
    return out;
}

/* With the name before it: the first line of the help text. */
static json_t *signature_of(const struct tool *t)
{
    return json_stringn(t->doc, strcspn(t->doc, "\n"));
}

static json_t *search(const struct toolset *set, const json_t *args, struct gb_err *err)
{
    const json_t *limit = json_object_get(args, "limit");
    size_t n = 0, most = limit ? (size_t)json_integer_value(limit) : FOUND_USUAL;
    const char *text = json_string_at(args, "query", "");
    struct query q = { 0 };
    auto_free struct hit *hits = calloc(set->count + 1, sizeof(*hits));
    json_t *found = json_array();

    if (!hits || !found) {
        json_decref(found);
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "memory ran out");
        return NULL;
    }
    while (q.n < WORDS_MAX && (text = next_word(text, q.words[q.n])))
        q.n++;
    for (size_t i = 0; i < set->count; i++)
        if (set->tools[i]->builtin == TOOL_ORDINARY)
            hits[n++].tool = set->tools[i];
    weigh(&q, hits, n);
    qsort(hits, n, sizeof(*hits), by_score);
    for (size_t i = 0; i < n && i < most && i < FOUND_MAX && (hits[i].score > 0 || q.n == 0); i++)
        json_array_append_new(found, json_pack("{s:s,s:o,s:o}", "name", hits[i].tool->name,
                                               "signature", signature_of(hits[i].tool),
                                               "description", line_of(hits[i].tool->description)));
    return found;
}

/* ---- describe ---- */

static json_t *describe(const struct toolset *set, const json_t *args, struct gb_err *err)
{
    const char *name = json_string_at(args, "name", "");
    const struct tool *t = toolset_find(set, name);

    if (!t || t->builtin == TOOL_READS) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "there is no tool '%.60s'; search_tools(\"...\") finds those that there are",
                      name);
        return NULL;
    }
    return json_pack("{s:s,s:o,s:s,s:O?,s:O?}", "name", t->name, "signature", signature_of(t),
                     "description", t->description ? t->description : "", "parameters",
                     t->parameters, "returns", t->returns);
}

json_t *discover_answer(const struct toolset *set, const struct tool *tool, const json_t *args,
                        struct gb_err *err)
{
    return tool->builtin == TOOL_SEARCHES ? search(set, args, err) : describe(set, args, err);
}

#include "python/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_MAX = 200,
    NAME_MAX_BYTES = 200,
    TEXT_MAX = 700
};

void finding_add(struct findings *f, const struct rule *rule, uint32_t node, enum subject kind,
                 uint64_t subject, bool is_error)
{
    const struct node *at = &f->h->t->nodes[node];
    struct place place =
        at->kind == K_Attribute ? node_attribute_place(f->h->t, at) : node_place(f->h->t, at);

    if (array_grow(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) < 0) {
        f->is_broken = true;
        return;
    }
    f->items[f->n++] = (struct finding){ .rule = rule,
                                         .subject = subject,
                                         .line = (int32_t)place.line,
                                         .column = (int32_t)place.column,
                                         .node = node,
                                         .kind = (uint8_t)kind,
                                         .is_error = is_error };
}

void findings_done(struct findings *f)
{
    free(f->items);
    *f = (struct findings){ .n = 0 };
}

/* ---- in order ---- */

static int compare(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if ((a->rule->points > 0) != (b->rule->points > 0))
        return b->rule->points > 0 ? -1 : 1;
    if (a->rule != b->rule)
        return strcmp(a->rule->name, b->rule->name);
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    return 0;
}

/* The same again; or a sign of danger where the policy refused already. */
static bool is_known(const struct findings *f, uint32_t i)
{
    const struct finding *item = &f->items[i], *before = item - 1;

    if (i == 0)
        return false;
    if (compare(before, item) == 0)
        return true;
    while (before > f->items && before->node == item->node && before->rule->points > 0)
        before--;
    return item->rule->points > 0 && before->node == item->node && before->rule->points == 0;
}

/* ---- as text ---- */

static const char *subject_text(const struct findings *f, const struct finding *item, char *buf,
                                size_t size)
{
    switch ((enum subject)item->kind) {
    case SUBJECT_NAME:
        (void)snprintf(buf, size, "%s", name_text(f->h->t, (uint32_t)item->subject));
        return buf;
    case SUBJECT_PATH:
        return path_text(f->h, (uint32_t)item->subject, buf, size);
    case SUBJECT_NUMBER:
        (void)snprintf(buf, size, "%" PRIu64, item->subject);
        return buf;
    }
    return "";
}

static json_t *fill_in(const char *template, const char *subject)
{
    char text[TEXT_MAX];
    size_t at = 0;
    json_t *json;

    while (*template && at + 1 < sizeof(text)) {
        bool is_gap = template[0] == '{' && template[1] == '}';
        size_t len = is_gap ? 0 : 1 + strcspn(template + 1, "{");
        int n = is_gap ? snprintf(text + at, sizeof(text) - at, "%s", subject)
                       : snprintf(text + at, sizeof(text) - at, "%.*s", (int)len, template);

        at += n > 0 ? (size_t)n : 0;
        template += is_gap ? 2 : len;
    }
    /* Whatever was cut in the middle of a character is not UTF-8, and no JSON. */
    json = json_stringn(text, at < sizeof(text) ? at : sizeof(text) - 1);
    return json ? json : json_string("a name that cannot be shown");
}

static json_t *finding_json(const struct findings *f, const struct finding *item)
{
    char buf[NAME_MAX_BYTES];
    const char *subject = subject_text(f, item, buf, sizeof(buf));
    json_t *json = json_pack("{s:s,s:s,s:o,s:i,s:i,s:o,s:o}", "rule", item->rule->name, "severity",
                             item->is_error ? "error" : "warning", "message",
                             fill_in(item->rule->message, subject), "line", (int)item->line,
                             "column", (int)item->column + 1, "name", fill_in("{}", subject),
                             "remedy", fill_in(item->rule->remedy, subject));

    if (json && item->rule->points > 0)
        json_object_set_new(json, "points", json_integer(item->rule->points));
    if (json && item->node < f->h->t->own_from)
        json_object_set_new(json, "file", json_string("prelude"));
    return json;
}

static json_t *more_json(uint32_t hidden, bool is_error)
{
    char text[120];

    (void)snprintf(text, sizeof(text), "and %" PRIu32 " more findings that are not shown", hidden);
    return json_pack("{s:s,s:s,s:s,s:n,s:n,s:s,s:s}", "rule", "more", "severity",
                     is_error ? "error" : "warning", "message", text, "line", "column", "name", "",
                     "remedy", "deal with the ones above first");
}

json_t *findings_json(struct findings *f)
{
    json_t *array = json_array();
    uint32_t shown = 0, hidden = 0;
    bool hides_error = false;

    if (f->n > 0)
        qsort(f->items, f->n, sizeof(*f->items), compare);
    for (uint32_t i = 0; array && i < f->n; i++) {
        if (is_known(f, i))
            continue;
        if (shown++ < SHOWN_MAX) {
            if (json_array_append_new(array, finding_json(f, &f->items[i])) < 0) {
                json_decref(array);
                return NULL;
            }
        } else {
            hidden++;
            hides_error |= f->items[i].is_error;
        }
    }
    if (array && hidden > 0)
        json_array_append_new(array, more_json(hidden, hides_error));
    return array;
}

/* ---- columns ---- */

/* The number of characters before a byte of a line; the line's bytes are UTF-8. */
static long characters(const char *line, const char *end, long bytes)
{
    long n = 0;

    for (const char *at = line; at < end && at < line + bytes; at++)
        n += ((unsigned char)*at & 0xc0) != 0x80;
    return n;
}

void findings_columns(json_t *findings, PyObject *source)
{
    PyObject *bytes = PyUnicode_AsEncodedString(source, "utf-8", "surrogatepass");
    const char *at = bytes ? PyBytes_AsString(bytes) : NULL;
    const char *end = at ? at + PyBytes_Size(bytes) : NULL;
    json_int_t line = 1;

    PyErr_Clear();
    for (size_t i = 0; at && i < json_array_size(findings); i++) { /* they are in order */
        json_t *finding = json_array_get(findings, i);
        json_t *column = json_object_get(finding, "column");
        json_int_t wanted = json_integer_value(json_object_get(finding, "line"));

        if (!json_is_integer(column) || json_object_get(finding, "file"))
            continue; /* of another text */
        for (; line < wanted && at < end; at++) {
            /* As the tokenizer counts lines: \n, \r\n and \r. */
            if (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] != '\n')))
                line++;
        }
        json_object_set_new(finding, "column",
                            json_integer(characters(at, end, json_integer_value(column) - 1) + 1));
    }
    Py_XDECREF(bytes);
}

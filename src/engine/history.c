#include "engine/history.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/request.h"

/* Do these rules refuse anything? */
static bool is_refusing(const json_t *rules)
{
    static const char *const lists[] = { "allow_imports", "block_imports", "allow_builtins",
                                         "block_builtins", "allow_os_attrs" };
    const char *policy = json_string_value(json_object_get(rules, "policy"));
    const char *patterns = json_string_value(json_object_get(rules, "patterns"));

    if ((policy && strcmp(policy, "strict") == 0) || (patterns && strcmp(patterns, "block") == 0))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const json_t *list = json_object_get(rules, lists[i]);
        bool is_allow = strncmp(lists[i], "allow", 5) == 0;
        if (is_allow ? json_is_array(list) : json_array_size(list) > 0)
            return true;
    }
    return false;
}

static bool is_needed(const struct history *h, const json_t *program)
{
    return h->text.len > 0 && is_refusing(json_object_get(program, "check"));
}

json_t *history_check_program(const struct history *h, const json_t *cell, struct gb_err *err)
{
    static const char *const keys[] = { "code", "filename", "inputs", "prelude" };
    const json_t *code = json_object_get(cell, "code");
    json_t *program = json_pack("{s:b}", "check_only", 1);
    json_t *rules = json_copy(json_object_get(cell, "check"));

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(cell, keys[i]))
            json_object_set(program, keys[i], json_object_get(cell, keys[i]));
    /* What other cells made is about, also what the text no longer shows: it ran before a
     * rewind. */
    json_object_set_new(rules, "earlier", json_true());
    json_object_set_new(program, "check", rules);
    if (!is_needed(h, cell))
        return program;
    if (h->text.len + json_string_length(code) > CODE_MAX) {
        json_decref(program);
        (void)gb_fail(err, GB_E_LIMIT, 0,
                      "code: the cells of this session are too long together to be checked");
        (void)gb_fail_hint(err, "reset the session, or begin another");
        return NULL;
    }
    struct gb_buf all;
    gb_buf_init(&all, CODE_MAX + 1);
    bool is_whole = gb_buf_add(&all, h->text.data, h->text.len, err) == 0 &&
                    gb_buf_add(&all, json_string_value(code), json_string_length(code), err) == 0 &&
                    json_object_set_new(program, "code", json_stringn(all.data, all.len)) == 0;
    gb_buf_done(&all);
    if (is_whole)
        return program;
    json_decref(program); /* a cell alone would be checked as if there had been nothing before it */
    (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "joining the cells for the check");
    return NULL;
}

json_t *history_findings(const struct history *h, const json_t *cell, const json_t *findings,
                         json_int_t *risk)
{
    json_int_t before = is_needed(h, cell) ? (json_int_t)h->lines : 0;
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *f = json_copy(json_array_get(findings, i));
        json_int_t line = json_integer_value(json_object_get(f, "line"));
        const char *severity = json_string_value(json_object_get(f, "severity"));
        bool is_earlier = line > 0 && line <= before && !json_object_get(f, "file");

        if (is_earlier && severity && strcmp(severity, "error") != 0) { /* told of then */
            *risk -= json_integer_value(json_object_get(f, "points"));
            json_decref(f);
            continue;
        }
        if (is_earlier) {
            json_object_set_new(f, "file", json_string("earlier cells"));
            json_object_set_new(f, "line", json_null());
            json_object_set_new(f, "column", json_null());
        } else if (line > before && !json_object_get(f, "file")) {
            json_object_set_new(f, "line", json_integer(line - before));
        }
        json_array_append_new(list, f);
    }
    return list;
}

int history_add(struct history *h, const json_t *cell, uint64_t policy, struct gb_err *err)
{
    const json_t *code = json_object_get(cell, "code");
    const char *text = json_string_value(code);
    size_t len = json_string_length(code);

    if (policy < h->policy)
        h->policy = policy;
    if (h->text.len + len + 1 > CODE_MAX && !is_refusing(json_object_get(cell, "check"))) {
        h->policy = POLICY_OFF; /* what nobody can look at any more */
        return 0;
    }
    if (gb_buf_add(&h->text, text, len, err) < 0 || gb_buf_add(&h->text, "\n", 1, err) < 0)
        return -1;
    h->lines++;
    for (size_t i = 0; i < len; i++)
        h->lines += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    return 0;
}

int history_copy(struct history *h, const struct history *from, struct gb_err *err)
{
    h->lines = from->lines;
    h->policy = from->policy;
    return gb_buf_add(&h->text, from->text.data, from->text.len, err);
}

void history_init(struct history *h)
{
    gb_buf_init(&h->text, CODE_MAX);
    history_clear(h);
}

void history_clear(struct history *h)
{
    h->text.len = 0;
    h->lines = 0;
    h->policy = POLICY_STRICT;
}

void history_done(struct history *h)
{
    gb_buf_done(&h->text);
}

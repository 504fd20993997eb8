#include "python/verdict.h"

#include <stdio.h>
#include <string.h>

#include "python/check.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/value.h"

enum {
    TEXT_MAX = 4 << 10,
    RISK_UNREADABLE = 100
};

/* ---- findings ---- */

static void add(struct verdict *v, json_t *finding)
{
    if (!v->findings)
        v->findings = json_array();
    json_array_append_new(v->findings, finding);
}

static void reject(struct verdict *v, json_t *finding)
{
    v->is_rejected = true;
    add(v, finding);
}

static json_t *finding_of(const char *rule, const char *message, const char *remedy)
{
    return json_pack("{s:s,s:s,s:s,s:n,s:n,s:s,s:s}", "rule", rule, "severity", "error", "message",
                     message, "line", "column", "name", "", "remedy", remedy);
}

/* The text of the current exception, which is taken. */
static json_t *exception_text(void)
{
    PyObject *type = NULL, *exc = NULL, *tb = NULL;
    json_t *text;

    PyErr_Fetch(&type, &exc, &tb);
    PyErr_NormalizeException(&type, &exc, &tb);
    text = exc ? value_text(exc, true, TEXT_MAX) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(exc);
    Py_XDECREF(tb);
    PyErr_Clear();
    return text ? text : json_string("memory ran out");
}

/* ---- the check ---- */

static bool is_set(const json_t *rules, const char *key)
{
    const char *choice = json_string_value(json_object_get(rules, key));

    return choice && strcmp(choice, "off") != 0;
}

void verdict_check(struct verdict *v, PyObject *prelude, PyObject *tree, const json_t *rules,
                   PyObject *source)
{
    struct check_result result = { 0 };
    char message[200];
    json_t *text;

    if (!is_set(rules, "policy") && !is_set(rules, "patterns"))
        return;
    if (check_tree(prelude, tree, rules, &result) == 0) {
        check_columns(result.findings, source);
        for (size_t i = 0; i < json_array_size(result.findings); i++)
            add(v, json_incref(json_array_get(result.findings, i)));
        v->risk = result.risk;
        v->is_rejected |= result.rejected;
        json_decref(result.findings);
        return;
    }
    text = exception_text();
    (void)snprintf(message, sizeof(message), "the check could not be finished: %.120s",
                   json_string_value(text));
    json_decref(text);
    reject(v, finding_of("check", message, "make the code shorter, or less deeply nested"));
}

/* ---- text that does not get as far ---- */

void verdict_syntax(struct verdict *v, PyObject *source, const char *file)
{
    PyObject *type = NULL, *exc = NULL, *tb = NULL;
    PyObject *describe = NULL, *described = NULL;
    json_t *finding = NULL;

    PyErr_Fetch(&type, &exc, &tb);
    PyErr_NormalizeException(&type, &exc, &tb);
    describe = exc ? guest_runtime("describe_syntax") : NULL;
    described = describe ? PyObject_CallFunctionObjArgs(describe, exc, source, NULL) : NULL;
    finding = described ? value_to_json(described) : NULL;
    PyErr_Clear();
    if (!finding)
        finding = finding_of("syntax", "the code cannot be parsed", "make it shorter");
    if (file)
        json_object_set_new(finding, "file", json_string(file));
    reject(v, finding);
    v->risk = RISK_UNREADABLE;
    Py_XDECREF(described);
    Py_XDECREF(type);
    Py_XDECREF(exc);
    Py_XDECREF(tb);
}

/* Is there a word in the first two lines that a declaration would have? */
static bool may_declare(const char *text, size_t len)
{
    size_t end = 0;

    for (int lines = 0; end < len && lines < 2; end++)
        lines += text[end] == '\n' || (text[end] == '\r' && text[end + 1] != '\n');
    return memmem(text, end, "coding", strlen("coding")) != NULL;
}

void verdict_encoding(struct verdict *v, const char *text, size_t len)
{
    PyObject *fn, *answer;

    if (!may_declare(text, len))
        return;
    fn = guest_runtime("odd_encoding");
    answer = fn ? PyObject_CallFunction(fn, "s#", text, (Py_ssize_t)len) : NULL;
    if (answer != Py_None) {
        json_t *finding = answer ? value_to_json(answer) : NULL;

        PyErr_Clear();
        reject(v, finding ? finding
                          : finding_of("encoding", "the declared encoding cannot be looked at",
                                       "save the file as UTF-8 and drop the declaration"));
    }
    Py_XDECREF(answer);
}

/* ---- telling ---- */

static void clip_texts(json_t *finding)
{
    const char *key;
    json_t *value;

    json_object_foreach (finding, key, value) {
        size_t len = json_string_length(value);
        const char *text = json_string_value(value);

        if (!text || len <= TEXT_MAX)
            continue;
        for (len = TEXT_MAX; ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
        json_object_set_new(finding, key, json_stringn(text, len));
    }
}

void verdict_answer(const struct verdict *v, json_t *answer)
{
    size_t n = json_array_size(v->findings), kept = 0, bytes = 0;
    json_t *list = json_array();

    for (; kept < n && kept < FINDINGS_MAX; kept++) {
        json_t *finding = json_array_get(v->findings, kept);

        clip_texts(finding);
        bytes += json_dumpb(finding, NULL, 0, JSON_COMPACT);
        if (bytes > FINDINGS_BYTES_MAX)
            break;
        json_array_append(list, finding);
    }
    if (kept < n) {
        char message[80];

        (void)snprintf(message, sizeof(message), "%zu more findings are not shown", n - kept);
        json_array_append_new(list, finding_of("more", message, "mend these first"));
        if (!v->is_rejected)
            json_object_set_new(json_array_get(list, kept), "severity", json_string("warning"));
    }
    json_object_set_new(answer, "findings", list);
    json_object_set_new(answer, "risk", json_integer(v->risk));
    json_object_set_new(answer, "rejected", json_boolean(v->is_rejected));
}

void verdict_done(struct verdict *v)
{
    json_decref(v->findings);
    *v = (struct verdict){ 0 };
}

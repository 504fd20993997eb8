#pragma once
/* What a check found: kept small while it looks, written out at the end. */
#include <jansson.h>

#include "python/hold.h"

/* A rule of the checker. In the texts {} stands for the subject. */
struct rule {
    const char *name;
    const char *message;
    const char *remedy;
    int points; /* of the pattern scan */
    bool is_critical;
};

enum subject {
    SUBJECT_NAME, /* of the tree */
    SUBJECT_PATH,
    SUBJECT_NUMBER
};

struct finding {
    const struct rule *rule;
    uint64_t subject;
    int32_t line, column;
    uint32_t node;
    uint8_t kind; /* enum subject */
    bool is_error;
};

struct findings {
    const struct holds *h;
    struct finding *items;
    uint32_t n, cap;
    bool is_broken; /* memory ran out: there is a Python exception */
};

void finding_add(struct findings *f, const struct rule *rule, uint32_t node, enum subject kind,
                 uint64_t subject, bool is_error);
void findings_done(struct findings *f);

/* By place, each once, at most 200 and one that says how many more. NULL when memory ran out. */
json_t *findings_json(struct findings *f);

/* Replace the columns, which count bytes, by such that count characters. */
void findings_columns(json_t *findings, PyObject *source);

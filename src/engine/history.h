#pragma once
/*
 * What ran in a session so far, for the check of what comes next. That sees a cell alone, unless
 * the rules refuse something: then it sees all the cells as one program, since what a name holds
 * may come from any of them.
 */
#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct history {
    struct gb_buf text; /* the cells that ran, one after another */
    size_t lines;
    uint64_t policy; /* the loosest that one of them ran under */
};

void history_init(struct history *h);
void history_clear(struct history *h);
void history_done(struct history *h);
int history_copy(struct history *h, const struct history *from, struct gb_err *err) gb_nodiscard;

/* What runs is remembered, whatever becomes of it: it may have bound names before it failed. */
int history_add(struct history *h, const json_t *cell, uint64_t policy,
                struct gb_err *err) gb_nodiscard;

/* What the check of a cell is to see. New reference; NULL with err. */
json_t *history_check_program(const struct history *h, const json_t *cell, struct gb_err *err);

/* Findings of that check, with lines of this cell. New reference. */
json_t *history_findings(const struct history *h, const json_t *cell, const json_t *findings,
                         json_int_t *risk);

/*
 * How a check works. The tree becomes an array of nodes (tree.c); names are resolved (scope.c);
 * what they may hold is followed from imports and assignments (path.c, hold.c); every dotted name
 * that starts at a module is judged once (members.c); then the rules look at each node (strict.c,
 * attributes.c, classes.c, patterns.c). Every step is a loop over an array.
 */
#include "python/check.h"

#include <stdlib.h>

#include "python/checker.h"

int check_prepare(void)
{
    return tree_prepare();
}

/* Attributes that the program itself gives to objects: those it assigns, those in class bodies. */
static int collect_own(struct checker *c)
{
    c->own_n = c->t.name_n;
    c->own = calloc(c->own_n, 1);
    if (!c->own) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < c->t.n; i++)
        if (c->t.nodes[i].kind == K_Attribute && c->t.nodes[i].mark != K_Load)
            c->own[c->t.nodes[i].name] |=
                c->t.nodes[i].mark == K_Store ? OWN_SET | OWN_CHANGED : OWN_CHANGED;
    for (uint32_t i = 0; i < c->s.n; i++)
        if (c->t.scopes[c->s.bindings[i].scope].kind == SCOPE_CLASS)
            c->own[c->s.bindings[i].name] |= OWN_SET;
    return 0;
}

static int check_program(struct checker *c)
{
    if (scopes_init(&c->s, &c->t) < 0 || holds_init(&c->h, &c->t, &c->s, &c->rules) < 0 ||
        members_judge(c) < 0 || collect_own(c) < 0)
        return -1;
    c->f.h = &c->h;
    if (c->rules.policy == POLICY_STRICT)
        check_strict(c);
    else
        check_lists(c);
    if (c->rules.patterns != PATTERNS_OFF)
        check_patterns(c);
    return c->f.is_broken || c->h.is_broken || PyErr_Occurred() ? -1 : 0;
}

static int answer(struct checker *c, struct check_result *ret)
{
    ret->findings = findings_json(&c->f);
    if (!ret->findings) {
        PyErr_NoMemory();
        return -1;
    }
    ret->risk = c->risk;
    for (uint32_t i = 0; i < c->f.n; i++)
        ret->rejected |= c->f.items[i].is_error;
    return 0;
}

static void checker_done(struct checker *c)
{
    findings_done(&c->f);
    free(c->judged);
    free(c->own);
    free(c->loose);
    holds_done(&c->h);
    scopes_done(&c->s);
    tree_done(&c->t);
}

int check_tree(PyObject *prelude, PyObject *tree, const json_t *rules, struct check_result *ret)
{
    struct checker c = { .risk = 0 };
    int64_t root = 0;
    int r = -1;

    *ret = (struct check_result){ .risk = 0 };
    if (rules_parse(rules, &c.rules) < 0) {
        PyErr_SetString(PyExc_ValueError, "the rules of the check are not well formed");
        return -1;
    }
    if (c.rules.policy == POLICY_OFF && c.rules.patterns == PATTERNS_OFF) {
        ret->findings = json_array();
        return 0;
    }
    if (tree_init(&c.t) == 0) {
        if (prelude)
            root = tree_add(&c.t, prelude);
        c.t.own_from = c.t.n;
        if (root >= 0 && tree_add(&c.t, tree) >= 0 && check_program(&c) == 0)
            r = answer(&c, ret);
    }
    checker_done(&c);
    return r;
}

void check_columns(json_t *findings, PyObject *source)
{
    findings_columns(findings, source);
}

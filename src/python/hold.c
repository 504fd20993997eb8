#include "python/hold.h"

#include <stdlib.h>
#include <string.h>

#include "python/words.h"

enum {
    PATHS_MAX = 32,  /* different things of modules that one name is followed for */
    OTHERS_MAX = 16, /* texts, classes and instances likewise */
    HELD_MAX = PATHS_MAX + OTHERS_MAX,
    ROUNDS_MAX = 40, /* of following assignments */
    LOOK_MAX = 64,   /* keyword-only parameters that are followed */
    FOLD_MAX = 32,   /* pieces of a constant text */
};

#define FLOW_ELEMENT 0x80000000u
#define FREE_NONE    UINT32_MAX

static uint32_t hold_value(enum hold kind, uint32_t what)
{
    return (uint32_t)kind << 28 | what;
}

/* ---- sets of values ---- */

/* Never is a value dropped in silence: what is one too many becomes UNSURE, which is refused where
 * it is used, or MORE, for which nothing is certain. */
struct set {
    uint32_t n;
    uint32_t paths; /* among the values */
    uint32_t values[HELD_MAX + 2];
};

static bool is_path(uint32_t value)
{
    return hold_kind(value) == HOLD_PATH;
}

/* What to keep, where so many of its kind are kept already. */
static uint32_t value_to_keep(uint32_t value, uint32_t paths, uint32_t others)
{
    if (is_path(value))
        return paths < PATHS_MAX ? value : hold_value(HOLD_UNSURE, 0);
    if (hold_kind(value) == HOLD_UNSURE || hold_kind(value) == HOLD_MORE)
        return value;
    return others < OTHERS_MAX ? value : hold_value(HOLD_MORE, 0);
}

static bool set_has(const struct set *set, uint32_t value)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->values[i] == value)
            return true;
    return false;
}

static void set_add(struct set *set, uint32_t value)
{
    if (value == 0 || set_has(set, value))
        return;
    uint32_t keep = value_to_keep(value, set->paths, set->n - set->paths);

    if (keep != value && set_has(set, keep))
        return;
    set->values[set->n++] = keep;
    set->paths += is_path(keep);
}

static void set_add_node(const struct holds *h, struct set *set, uint32_t node)
{
    uint32_t at = 0, value;

    while (hold_next(h, node, &at, &value))
        set_add(set, value);
}

static void set_add_binding(const struct holds *h, struct set *set, uint32_t binding)
{
    if (binding == 0)
        return;
    for (uint32_t at = h->s->bindings[binding - 1].holds; at != 0; at = h->lists[at].next)
        set_add(set, h->lists[at].value);
}

static uint32_t set_value(struct holds *h, const struct set *set)
{
    uint32_t at = h->many_n;

    if (set->n <= 1)
        return set->n ? set->values[0] : 0;
    if (array_grow(&h->many, &h->many_cap, at + set->n + 1, sizeof(*h->many)) < 0) {
        h->is_broken = true;
        return 0;
    }
    h->many[at] = set->n;
    memcpy(h->many + at + 1, set->values, set->n * sizeof(set->values[0]));
    h->many_n += set->n + 1;
    return hold_value(HOLD_MANY, at);
}

bool hold_next(const struct holds *h, uint32_t node, uint32_t *at, uint32_t *ret)
{
    uint32_t value = h->of[node], i = (*at)++;

    if (value == 0)
        return false;
    if (hold_kind(value) != HOLD_MANY) {
        *ret = value;
        return i == 0;
    }
    if (i >= h->many[hold_what(value)])
        return false;
    *ret = h->many[hold_what(value) + 1 + i];
    return true;
}

uint32_t hold_one(const struct holds *h, uint32_t node)
{
    return hold_kind(h->of[node]) == HOLD_MANY ? HOLD_NOTHING : h->of[node];
}

uint32_t hold_path(const struct holds *h, uint32_t node)
{
    uint32_t at = 0, value;

    while (hold_next(h, node, &at, &value))
        if (hold_kind(value) == HOLD_PATH)
            return hold_what(value);
    return 0;
}

static bool binding_has(const struct holds *h, const struct binding *b, uint32_t value)
{
    for (uint32_t at = b->holds; at != 0; at = h->lists[at].next)
        if (h->lists[at].value == value)
            return true;
    return false;
}

/* True when the binding did not hold it before. */
static bool binding_hold(struct holds *h, struct binding *b, uint32_t value)
{
    if (binding_has(h, b, value))
        return false;
    value = value_to_keep(value, b->held_paths, b->held - b->held_paths);
    if (binding_has(h, b, value))
        return false;
    if (array_grow(&h->lists, &h->list_cap, h->list_n + 1, sizeof(*h->lists)) < 0) {
        h->is_broken = true;
        return false;
    }
    h->lists[h->list_n] = (struct held){ .value = value, .next = b->holds };
    b->holds = h->list_n++;
    b->held++;
    b->held_paths += is_path(value);
    return true;
}

/* ---- constants ---- */

static bool is_text(const struct node *node)
{
    return node->kind == K_Constant && PyUnicode_Check(node->value);
}

/* The pieces in their order; false when there is anything else among them. */
static bool text_pieces(const struct holds *h, uint32_t node, uint32_t *pieces, uint32_t *ret_n)
{
    uint32_t todo[FOLD_MAX] = { node }, left = 1, n = 0;

    while (left > 0) {
        const struct node *at = &h->t->nodes[todo[--left]];

        if (at->kind == K_BinOp && at->mark == K_Add && left + 2 <= FOLD_MAX && at->count == 2) {
            todo[left++] = at->first + 1;
            todo[left++] = at->first;
        } else if (is_text(at) && n < FOLD_MAX) {
            pieces[n++] = node_index(h->t, at);
        } else {
            return false;
        }
    }
    *ret_n = n;
    return true;
}

PyObject *folded_text(const struct holds *h, uint32_t node)
{
    uint32_t pieces[FOLD_MAX], n;
    PyObject *all;

    if (!text_pieces(h, node, pieces, &n))
        return NULL;
    all = constant_bytes(&h->t->nodes[pieces[0]]);
    for (uint32_t i = 1; all && i < n; i++) /* NULL for `all` when memory runs out */
        PyBytes_ConcatAndDel(&all, constant_bytes(&h->t->nodes[pieces[i]]));
    PyErr_Clear();
    return all;
}

/* ---- expressions ---- */

/* Only a name that is a builtin's, or a module's, need be asked whether it is bound for certain. */
static void settle_free(struct holds *h, struct node *node)
{
    uint32_t path = free_path(h, node->name);

    if (node->binding && (!path || !h->paths[path].is_builtin || scope_is_certain(h->s, node)))
        node->is_free = false;
}

static uint32_t hold_name(struct holds *h, struct node *node)
{
    struct set set = { .n = 0 };

    set_add_binding(h, &set, node->binding);
    set_add_binding(h, &set, node->outer);
    if (node->is_free) {
        uint32_t path = free_path(h, node->name);

        if (path)
            set_add(&set, hold_value(HOLD_PATH, path));
    }
    return set_value(h, &set);
}

static uint32_t hold_attribute(struct holds *h, const struct node *node)
{
    struct set set = { .n = 0 };
    uint32_t at = 0, value;

    if (node->count == 0 || h->of[node->first] == 0)
        return 0;
    while (hold_next(h, node->first, &at, &value)) {
        if (hold_kind(value) == HOLD_PATH) {
            uint32_t path = path_child(h, hold_what(value), node->name);
            h->is_broken |= path == 0;
            h->paths[path].is_read = true;
            set_add(&set, hold_value(HOLD_PATH, path));
        } else if (hold_kind(value) == HOLD_UNSURE) {
            set_add(&set, value);
        }
    }
    return set_value(h, &set);
}

/* The path of a module whose name is a constant argument. */
static uint32_t module_by_text(struct holds *h, uint32_t node)
{
    PyObject *text = folded_text(h, node);
    const char *name = text ? PyBytes_AsString(text) : "";
    uint32_t path = 0;

    if (name[0] && name[0] != '.' && strlen(name) < 200)
        path = path_module(h, name);
    PyErr_Clear();
    Py_XDECREF(text);
    return path ? hold_value(HOLD_PATH, path) : 0;
}

static uint32_t attribute_by_text(struct holds *h, uint32_t base, uint32_t node)
{
    PyObject *text = folded_text(h, node);
    uint32_t path = hold_path(h, base), name = 0;

    if (text && path && PyBytes_Size(text) > 0 && PyBytes_Size(text) < 200)
        name = tree_name(h->t, PyBytes_AsString(text), (size_t)PyBytes_Size(text));
    path = name ? path_child(h, path, name) : 0;
    PyErr_Clear();
    Py_XDECREF(text);
    return path ? hold_value(HOLD_PATH, path) : 0;
}

/* Calls that give modules or their attributes by name, and those of classes of the program's. */
static uint32_t hold_call(struct holds *h, const struct node *node)
{
    uint32_t func = node->first, callee = hold_one(h, func);
    enum special special;

    if (hold_kind(callee) == HOLD_CLASS)
        return hold_value(HOLD_INSTANCE, hold_what(callee));
    special = path_special(h, hold_path(h, func));
    if (special == SPECIAL_NONE || node->count < 2 || h->t->nodes[func + 1].role != F_args)
        return 0;
    if (special == SPECIAL_IMPORT)
        return module_by_text(h, func + 1);
    if (special == SPECIAL_GETATTR && tree_count(h->t, node, F_args) >= 2)
        return attribute_by_text(h, func + 1, func + 2);
    if (special == SPECIAL_RECORD)
        return hold_value(HOLD_RECORD, node_index(h->t, node));
    return 0;
}

/* What may be inside a literal. */
static void set_add_elements(const struct holds *h, struct set *set, const struct node *literal)
{
    if (literal->kind != K_List && literal->kind != K_Tuple && literal->kind != K_Set &&
        literal->kind != K_Dict)
        return;
    for (uint32_t i = 0; i < literal->count; i++)
        set_add_node(h, set, literal->first + i);
}

static uint32_t hold_subscript(struct holds *h, const struct node *node)
{
    struct set set = { .n = 0 };

    if (path_special(h, hold_path(h, node->first)) == SPECIAL_MODULES && node->count == 2)
        return module_by_text(h, node->first + 1);
    set_add_elements(h, &set, &h->t->nodes[node->first]);
    return set_value(h, &set);
}

static uint32_t hold_union(struct holds *h, const struct node *node)
{
    struct set set = { .n = 0 };

    for (uint32_t i = 0; i < node->count; i++)
        if (h->t->nodes[node->first + i].role != F_test)
            set_add_node(h, &set, node->first + i);
    return set_value(h, &set);
}

static uint32_t hold_node(struct holds *h, uint32_t i)
{
    struct node *node = &h->t->nodes[i];

    switch (node->kind) {
    case K_Name:
        return hold_name(h, node);
    case K_Attribute:
        return hold_attribute(h, node);
    case K_Call:
        return hold_call(h, node);
    case K_Subscript:
        return hold_subscript(h, node);
    case K_IfExp:
    case K_BoolOp:
        return hold_union(h, node);
    case K_NamedExpr:
        return h->of[node->first + node->count - 1];
    case K_Starred:
        return h->of[node->first];
    default:
        return 0;
    }
}

static bool has_value(const struct tree *t, const struct node *node)
{
    switch (node->kind) {
    case K_Name:
        return node_is_read(t, node);
    case K_Attribute:
    case K_Call:
    case K_Subscript:
    case K_IfExp:
    case K_BoolOp:
    case K_NamedExpr:
    case K_Starred:
        return node->count > 0;
    default:
        return false;
    }
}

/* ---- from where names get their values ---- */

static int add_flow(struct holds *h, uint32_t name, uint32_t from)
{
    if (array_grow(&h->flows, &h->flow_cap, h->flow_n + 1, sizeof(*h->flows)) < 0)
        return -1;
    h->flows[h->flow_n++] = (struct flow){ .name = name, .from = from };
    return 0;
}

static bool is_positional(const struct node *arg)
{
    return arg->role == F_posonlyargs || arg->role == F_args;
}

/* Each of the last positional parameters has its default, in the same order. */
static int flow_positional(struct holds *h, const struct node *args)
{
    uint32_t left = tree_count(h->t, args, F_posonlyargs) + tree_count(h->t, args, F_args);
    uint32_t without = left - tree_count(h->t, args, F_defaults), p = args->first, seen = 0;

    for (uint32_t i = args->first; i < args->first + args->count; i++) {
        if (h->t->nodes[i].role != F_defaults)
            continue;
        for (; p < args->first + args->count; p++)
            if (is_positional(&h->t->nodes[p]) && seen++ >= without)
                break;
        if (p < args->first + args->count && add_flow(h, p++, i) < 0)
            return -1;
    }
    return 0;
}

/* Keyword-only parameters are not told apart: each gets all defaults. */
static int flow_keywords(struct holds *h, const struct node *args)
{
    uint32_t params = tree_count(h->t, args, F_kwonlyargs);
    uint32_t defaults = tree_count(h->t, args, F_kw_defaults);

    if (params > LOOK_MAX && defaults > 0) {
        h->is_tangled = true;
        return 0;
    }
    for (uint32_t p = args->first; defaults > 0 && p < args->first + args->count; p++)
        for (uint32_t i = args->first; i < args->first + args->count; i++)
            if (h->t->nodes[p].role == F_kwonlyargs && h->t->nodes[i].role == F_kw_defaults &&
                add_flow(h, p, i) < 0)
                return -1;
    return 0;
}

static int flow_defaults(struct holds *h, const struct node *args)
{
    return flow_positional(h, args) < 0 ? -1 : flow_keywords(h, args);
}

static bool has_starred(const struct tree *t, const struct node *node)
{
    for (uint32_t i = node->first; i < node->first + node->count; i++)
        if (t->nodes[i].kind == K_Starred)
            return true;
    return false;
}

/* Hand what a target gets to the targets in it: one by one where both sides are written out. */
static void spread(const struct holds *h, uint32_t *from, uint32_t target)
{
    const struct node *node = &h->t->nodes[target];
    uint32_t source = from[target] & ~FLOW_ELEMENT;
    const struct node *value = &h->t->nodes[source];
    bool is_paired = !(from[target] & FLOW_ELEMENT) &&
                     (value->kind == K_Tuple || value->kind == K_List) &&
                     value->count == node->count && node->kind != K_Starred &&
                     !has_starred(h->t, value) && !has_starred(h->t, node);

    for (uint32_t i = 0; i < node->count; i++)
        from[node->first + i] = is_paired ? value->first + i : source | FLOW_ELEMENT;
}

static void flow_assign(const struct holds *h, uint32_t *from, const struct node *node)
{
    const struct node *value = tree_child(h->t, node, F_value);

    for (uint32_t i = node->first; value && i < node->first + node->count; i++)
        if (h->t->nodes[i].role == F_targets || h->t->nodes[i].role == F_target)
            from[i] = node_index(h->t, value);
}

static void flow_loop(const struct holds *h, uint32_t *from, const struct node *node)
{
    const struct node *target = tree_child(h->t, node, F_target);
    const struct node *iter = tree_child(h->t, node, F_iter);

    if (target && iter)
        from[node_index(h->t, target)] = node_index(h->t, iter) | FLOW_ELEMENT;
}

/* `from` is zero where nothing flows: node 0 is a root, never a value. */
static int collect_flow(struct holds *h, uint32_t *from, uint32_t i)
{
    const struct node *node = &h->t->nodes[i];

    switch (node->kind) {
    case K_Assign:
    case K_AnnAssign:
    case K_NamedExpr:
        flow_assign(h, from, node);
        return 0;
    case K_For:
    case K_AsyncFor:
    case K_comprehension:
        flow_loop(h, from, node);
        return 0;
    case K_arguments:
        return flow_defaults(h, node);
    case K_Tuple:
    case K_List:
    case K_Starred:
        if (from[i] && node->mark == K_Store)
            spread(h, from, i);
        return 0;
    case K_Name:
        return from[i] && node->mark == K_Store ? add_flow(h, i, from[i]) : 0;
    default:
        return 0;
    }
}

static int collect_flows(struct holds *h)
{
    uint32_t *from = calloc(h->t->n + 1, sizeof(*from));
    int r = from ? 0 : -1;

    if (!from)
        PyErr_NoMemory();
    for (uint32_t i = 0; r == 0 && i < h->t->n; i++)
        r = collect_flow(h, from, i);
    free(from);
    return r;
}

static struct binding *bound_by(const struct holds *h, const struct node *node)
{
    bool is_walrus = node->kind == K_Name && node_parent(h->t, node)->kind == K_NamedExpr;
    uint32_t scope = scope_of_store(h->s, node->scope, node->name, is_walrus);

    return scope_find(h->s, scope, node->name);
}

/* What is the one expression that a name is bound to, and how often is it a text? */
static void note_sources(struct holds *h)
{
    for (uint32_t i = 0; i < h->flow_n; i++) {
        struct binding *b = bound_by(h, &h->t->nodes[h->flows[i].name]);
        uint32_t from = h->flows[i].from;

        if (!b)
            continue;
        b->source = from & FLOW_ELEMENT || b->times != 1 ? 0 : from;
        b->texts += !(from & FLOW_ELEMENT) && is_text(&h->t->nodes[from]);
    }
}

/* Returns whether any name holds more than before. The names that one literal is spread over come
 * one after the other: it is looked at once for all of them. */
static bool run_flows(struct holds *h)
{
    struct set set = { .n = 0 };
    bool has_changed = false;

    for (uint32_t i = 0; i < h->flow_n; i++) {
        struct binding *b = bound_by(h, &h->t->nodes[h->flows[i].name]);
        uint32_t from = h->flows[i].from;

        if (i == 0 || from != h->flows[i - 1].from || !(from & FLOW_ELEMENT)) {
            set.n = set.paths = 0;
            if (from & FLOW_ELEMENT)
                set_add_elements(h, &set, &h->t->nodes[from & ~FLOW_ELEMENT]);
            else
                set_add_node(h, &set, from);
        }
        for (uint32_t v = 0; b && v < set.n; v++)
            has_changed |= binding_hold(h, b, set.values[v]);
    }
    return has_changed;
}

/* ---- imports and classes ---- */

static int bind_star_name(struct holds *h, uint32_t module, PyObject *text)
{
    PyObject *bytes = PyUnicode_Check(text) ? PyUnicode_AsUTF8String(text) : NULL;
    uint32_t name = 0, path;
    struct binding *b;

    PyErr_Clear();
    if (!bytes)
        return 0;
    name = tree_name(h->t, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    path = name ? path_child(h, module, name) : 0;
    b = path ? scope_bind(h->s, 0, name, BIND_IMPORT | BIND_STAR) : NULL;
    if (!b)
        return -1;
    (void)binding_hold(h, b, hold_value(HOLD_PATH, path));
    return 0;
}

/* `from module import *`, where the module is loaded and so says what that brings. */
static int bind_star(struct holds *h, const struct node *alias)
{
    const struct node *from = node_parent(h->t, alias);
    uint32_t module =
        from->small == 0 && from->name ? path_module(h, name_text(h->t, from->name)) : 0;
    PyObject *live = module ? h->paths[module].live : NULL, *dict, *all, *key, *value;
    Py_ssize_t at = 0;
    int r = 0;

    if (!live || !PyModule_Check(live))
        return PyErr_Occurred() ? -1 : 0;
    dict = PyModule_GetDict(live);
    all = PyDict_GetItemString(dict, "__all__");
    if (all && PyList_Check(all)) {
        for (at = 0; r == 0 && at < PyList_Size(all); at++)
            r = bind_star_name(h, module, PyList_GetItem(all, at));
        return r;
    }
    while (r == 0 && PyDict_Next(dict, &at, &key, &value))
        if (PyUnicode_Check(key) && PyUnicode_GetLength(key) > 0 &&
            PyUnicode_ReadChar(key, 0) != '_')
            r = bind_star_name(h, module, key);
    return r;
}

static int seed_alias(struct holds *h, const struct node *alias, bool *ret_has_star)
{
    const char *text = name_text(h->t, alias->name);
    bool is_import = node_parent(h->t, alias)->kind == K_Import;
    struct binding *b;
    uint32_t path, name = alias->as ? alias->as : alias->name, scope;

    if (text[0] == '*') {
        *ret_has_star = true;
        return bind_star(h, alias);
    }
    path = path_of_alias(h, alias);
    if (path == 0)
        return PyErr_Occurred() ? -1 : 0;
    if (is_import && !alias->as) {
        path = h->paths[path].root;
        name = h->paths[path].name;
    }
    scope = scope_of_store(h->s, alias->scope, name, false);
    b = scope_find(h->s, scope, name);
    if (b)
        (void)binding_hold(h, b, hold_value(HOLD_PATH, path));
    return 0;
}

static int seed(struct holds *h)
{
    bool has_star = false;

    for (uint32_t i = 0; i < h->t->n; i++) {
        struct node *node = &h->t->nodes[i];

        if (node->kind == K_alias && seed_alias(h, node, &has_star) < 0)
            return -1;
        if (node->kind == K_ClassDef) {
            struct binding *b = bound_by(h, node);
            if (b)
                (void)binding_hold(h, b, hold_value(HOLD_CLASS, i));
        }
        if (node->kind == K_Constant && PyUnicode_Check(node->value))
            h->of[i] = hold_value(HOLD_TEXT, i);
        else if (has_value(h->t, node))
            h->work[h->work_n++] = i;
    }
    if (has_star)
        scopes_resolve(h->s, h->t);
    for (uint32_t i = 0; i < h->work_n; i++) {
        struct node *node = &h->t->nodes[h->work[i]];
        if (node->kind == K_Name && node->is_free)
            settle_free(h, node);
    }
    return h->is_broken ? -1 : 0;
}

/* ---- all of it ---- */

static uint32_t look_up_free(struct holds *h, uint32_t name)
{
    const char *text = name_text(h->t, name);
    uint32_t path = 0;

    if (PyDict_GetItemString(h->builtins, text)) {
        path = path_module(h, "builtins");
        path = path ? path_child(h, path, name) : 0;
        h->is_broken |= path == 0;
    } else if (rules_know_module(h->rules, text) && !rules_give_name(h->rules, text)) {
        path = path_module(h, text);
        h->is_broken |= path == 0;
    }
    return path;
}

uint32_t free_path(struct holds *h, uint32_t name)
{
    if (name >= h->free_cap) {
        uint32_t old = h->free_cap;

        if (array_grow(&h->free, &h->free_cap, name + 1, sizeof(*h->free)) < 0) {
            h->is_broken = true;
            return 0;
        }
        memset(h->free + old, 0, (h->free_cap - old) * sizeof(*h->free));
    }
    if (h->free[name] == 0) {
        uint32_t path = look_up_free(h, name);
        h->free[name] = path ? path : FREE_NONE;
    }
    return h->free[name] == FREE_NONE ? 0 : h->free[name];
}

bool is_builtin(struct holds *h, uint32_t name)
{
    uint32_t path = free_path(h, name);

    return path && h->paths[path].is_builtin;
}

int holds_init(struct holds *h, struct tree *t, struct scopes *s, const struct rules *rules)
{
    *h = (struct holds){ .t = t, .s = s, .rules = rules, .path_n = 1, .list_n = 1 };
    h->modules = PySys_GetObject("modules");
    h->builtins = PyEval_GetBuiltins();
    h->standard = PySys_GetObject("stdlib_module_names");
    h->of = calloc(t->n + 1, sizeof(*h->of));
    h->work = calloc(t->n + 1, sizeof(*h->work));
    if (!h->of || !h->work) {
        PyErr_NoMemory();
        return -1;
    }
    if (seed(h) < 0 || collect_flows(h) < 0)
        return -1;
    note_sources(h);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        h->many_n = 0;
        for (uint32_t i = h->work_n; i-- > 0;)
            h->of[h->work[i]] = hold_node(h, h->work[i]);
        if (h->is_broken)
            return -1;
        h->is_settled = !run_flows(h);
        if (h->is_settled)
            break;
    }
    h->is_settled &= !h->is_tangled;
    return h->is_broken ? -1 : 0;
}

void holds_done(struct holds *h)
{
    free(h->paths);
    free(h->path_table);
    free(h->of);
    free(h->work);
    free(h->flows);
    free(h->lists);
    free(h->many);
    free(h->free);
    *h = (struct holds){ .t = NULL };
}

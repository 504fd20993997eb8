#include "python/scope.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static uint32_t pair_hash(uint32_t scope, uint32_t name)
{
    return (uint32_t)((((uint64_t)scope << 32 | name) * 0x9E3779B97F4A7C15ull) >> 32);
}

static uint32_t table_slot(const struct scopes *s, uint32_t scope, uint32_t name)
{
    uint32_t at = pair_hash(scope, name) & (s->table_cap - 1), i;

    for (; (i = s->table[at]) != 0; at = (at + 1) & (s->table_cap - 1))
        if (s->bindings[i - 1].scope == scope && s->bindings[i - 1].name == name)
            break;
    return at;
}

static int table_grow(struct scopes *s)
{
    uint32_t cap = s->table_cap ? s->table_cap * 2 : 512;
    uint32_t *table = calloc(cap, sizeof(*table));

    if (!table) {
        PyErr_NoMemory();
        return -1;
    }
    free(s->table);
    s->table = table;
    s->table_cap = cap;
    for (uint32_t i = 0; i < s->n; i++)
        table[table_slot(s, s->bindings[i].scope, s->bindings[i].name)] = i + 1;
    return 0;
}

struct binding *scope_find(const struct scopes *s, uint32_t scope, uint32_t name)
{
    uint32_t i = s->table[table_slot(s, scope, name)];

    return i ? &s->bindings[i - 1] : NULL;
}

struct binding *scope_bind(struct scopes *s, uint32_t scope, uint32_t name, uint32_t bind)
{
    struct binding *b = scope_find(s, scope, name);

    if (!b) {
        if ((s->n + 1) * 2 > s->table_cap && table_grow(s) < 0)
            return NULL;
        if (array_grow(&s->bindings, &s->cap, s->n + 1, sizeof(*s->bindings)) < 0)
            return NULL;
        s->table[table_slot(s, scope, name)] = s->n + 1;
        b = &s->bindings[s->n++];
        *b = (struct binding){ .scope = scope, .name = name };
    }
    b->bind |= bind;
    return b;
}

/* ---- where a name goes ---- */

uint32_t scope_of_store(const struct scopes *s, uint32_t scope, uint32_t name, bool is_walrus)
{
    const struct scope *scopes = s->t->scopes;
    const struct binding *b;

    while (is_walrus && scopes[scope].is_comprehension)
        scope = scopes[scope].parent;
    b = scope_find(s, scope, name);
    if (b && b->bind & BIND_GLOBAL)
        return 0;
    if (!b || !(b->bind & BIND_NONLOCAL))
        return scope;
    for (uint32_t at = scopes[scope].parent; at != 0; at = scopes[at].parent) {
        b = scope_find(s, at, name);
        if (scopes[at].kind == SCOPE_FUNCTION && b && !(b->bind & BIND_NONLOCAL))
            return at;
    }
    return scope;
}

/* ---- collecting ---- */

/* A statement straight in the body of its scope has run when anything below it runs. */
static bool is_straight(const struct tree *t, const struct node *statement)
{
    const struct node *parent = node_parent(t, statement);

    return statement->role == F_body && (parent->kind == K_Module || parent->kind == K_ClassDef);
}

/* The statement that has bound the name once it is through. */
static const struct node *statement_of(const struct tree *t, const struct node *node)
{
    switch (node->kind) {
    case K_FunctionDef:
    case K_AsyncFunctionDef:
    case K_ClassDef:
        return node;
    case K_alias:
        return node_parent(t, node);
    case K_Name:
        while (node_parent(t, node)->kind == K_Tuple || node_parent(t, node)->kind == K_List ||
               node_parent(t, node)->kind == K_Starred)
            node = node_parent(t, node);
        if (node->role == F_targets ||
            (node->role == F_target && node_parent(t, node)->kind == K_AnnAssign))
            return node_parent(t, node);
        return NULL;
    default:
        return NULL;
    }
}

/* x: int binds nothing. */
static bool has_value(const struct tree *t, const struct node *statement)
{
    return statement->kind != K_AnnAssign || tree_child(t, statement, F_value);
}

/* Does the one statement end before the other node begins? The prelude runs first. */
static bool is_before(const struct tree *t, const struct node *a, const struct node *b)
{
    bool is_prelude = node_index(t, a) < t->own_from;

    if (is_prelude != (node_index(t, b) < t->own_from))
        return is_prelude;
    struct place end = node_end(t, a), begin = node_place(t, b);

    return end.line < begin.line || (end.line == begin.line && end.column <= begin.column);
}

static int bind_node(struct scopes *s, const struct node *node, uint32_t name, uint32_t bind)
{
    bool is_walrus = node->kind == K_Name && node->role == F_target &&
                     node_parent(s->t, node)->kind == K_NamedExpr;
    uint32_t scope = scope_of_store(s, node->scope, name, is_walrus);
    struct binding *b = scope_bind(s, scope, name, bind);
    const struct node *statement = statement_of(s->t, node);

    if (!b)
        return -1;
    b->times++;
    if (bind & (BIND_CLASS | BIND_FUNCTION))
        b->node = node_index(s->t, node);
    if (!statement || scope != node->scope || !is_straight(s->t, statement) ||
        !has_value(s->t, statement))
        return 0;
    if (b->statement == 0 || is_before(s->t, statement, &s->t->nodes[b->statement - 1]))
        b->statement = node_index(s->t, statement) + 1;
    return 0;
}

/* `import a.b` binds a. */
static int bind_import(struct scopes *s, struct tree *t, const struct node *alias)
{
    const char *text = name_text(t, alias->name), *dot = strchr(text, '.');
    uint32_t name = alias->as ? alias->as : alias->name;

    if (text[0] == '*')
        return 0;
    if (!alias->as && dot && node_parent(t, alias)->kind == K_Import)
        name = tree_name(t, text, (size_t)(dot - text));
    return name ? bind_node(s, alias, name, BIND_IMPORT) : -1;
}

static int declare(struct scopes *s, const struct node *text)
{
    const struct node *statement = node_parent(s->t, text);

    if (text->scope == 0 || (statement->kind != K_Global && statement->kind != K_Nonlocal))
        return 0;
    return scope_bind(s, text->scope, text->name,
                      statement->kind == K_Global ? BIND_GLOBAL : BIND_NONLOCAL)
               ? 0
               : -1;
}

static int collect(struct scopes *s, struct tree *t, const struct node *node)
{
    switch (node->kind) {
    case K_Name:
        if (node->mark == K_Load)
            return 0;
        return bind_node(s, node, node->name, node->mark == K_Del ? BIND_DELETED : BIND_OTHER);
    case K_FunctionDef:
    case K_AsyncFunctionDef:
        return bind_node(s, node, node->name, BIND_FUNCTION);
    case K_ClassDef:
        return bind_node(s, node, node->name, BIND_CLASS);
    case K_alias:
        return bind_import(s, t, node);
    case K_arg:
        return bind_node(s, node, node->name, BIND_PARAMETER);
    case K_ExceptHandler: /* the name is deleted at the handler's end */
        return node->name ? bind_node(s, node, node->name, BIND_CAUGHT | BIND_DELETED) : 0;
    case K_MatchAs:
    case K_MatchStar:
    case K_MatchMapping:
    case K_TypeVar:
    case K_ParamSpec:
    case K_TypeVarTuple:
        return node->name ? bind_node(s, node, node->name, BIND_OTHER) : 0;
    default:
        return 0;
    }
}

/* ---- resolving ---- */

/* The body of a plain function runs when its name is bound; a decorator may run it before. */
static bool is_in_body(const struct tree *t, const struct node *function, uint32_t scope)
{
    if ((function->kind != K_FunctionDef && function->kind != K_AsyncFunctionDef) ||
        tree_child(t, function, F_decorator_list))
        return false;
    while (scope != 0 && scope != function->own)
        scope = t->scopes[scope].parent;
    return scope != 0;
}

bool scope_is_plain(const struct tree *t, uint32_t scope)
{
    const struct node *class = &t->nodes[t->scopes[scope].node];

    return t->scopes[scope].kind != SCOPE_CLASS ||
           (!tree_child(t, class, F_bases) && !tree_child(t, class, F_keywords));
}

static bool is_certain(const struct tree *t, const struct binding *b, const struct node *node)
{
    const struct node *statement;

    if (!b || b->statement == 0 || b->bind & BIND_DELETED || !scope_is_plain(t, b->scope))
        return false;
    statement = &t->nodes[b->statement - 1];
    return is_before(t, statement, node) || is_in_body(t, statement, node->scope);
}

bool scope_is_certain(const struct scopes *s, const struct node *node)
{
    return is_certain(s->t, binding_of(s, node), node) ||
           (node->outer && is_certain(s->t, &s->bindings[node->outer - 1], node));
}

/* A name of a function's is never a builtin; that of a class may be the outer one, or that. */
static void resolve(const struct scopes *s, struct node *node)
{
    const struct scope *scopes = s->t->scopes;
    uint32_t at = node->scope, *to = &node->binding;
    bool is_first = true;

    node->binding = node->outer = 0;
    node->is_free = true;
    for (;;) {
        const struct binding *b =
            is_first || scopes[at].kind != SCOPE_CLASS ? scope_find(s, at, node->name) : NULL;

        if (b && b->bind & BIND_GLOBAL && at != 0) {
            at = 0;
            is_first = false;
            continue;
        }
        if (b && !(b->bind & (BIND_NONLOCAL | BIND_GLOBAL))) {
            *to = (uint32_t)(b - s->bindings) + 1;
            to = &node->outer;
            node->is_free = scopes[at].kind != SCOPE_FUNCTION;
            if (scopes[at].kind != SCOPE_CLASS)
                return;
        }
        if (at == 0)
            return;
        at = scopes[at].parent;
        is_first = false;
    }
}

void scopes_resolve(struct scopes *s, struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].kind == K_Name && node_is_read(t, &t->nodes[i]))
            resolve(s, &t->nodes[i]);
}

int scopes_init(struct scopes *s, struct tree *t)
{
    *s = (struct scopes){ .t = t };
    if (table_grow(s) < 0)
        return -1;
    for (uint32_t i = 0; i < t->n; i++) /* order: declarations say where the others go */
        if (t->nodes[i].kind == KIND_TEXT && declare(s, &t->nodes[i]) < 0)
            return -1;
    for (uint32_t i = 0; i < t->n; i++)
        if (collect(s, t, &t->nodes[i]) < 0)
            return -1;
    scopes_resolve(s, t);
    return 0;
}

void scopes_done(struct scopes *s)
{
    free(s->bindings);
    free(s->table);
    *s = (struct scopes){ .n = 0 };
}

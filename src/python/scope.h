#pragma once
/* Who binds which name where, and what a name that is read may therefore mean. */
#include "python/tree.h"

enum bind {
    BIND_IMPORT = 1u << 0,
    BIND_PARAMETER = 1u << 1,
    BIND_FUNCTION = 1u << 2,
    BIND_CLASS = 1u << 3,
    BIND_OTHER = 1u << 4,    /* assignment, loop, with, match, except, ... */
    BIND_DELETED = 1u << 5,  /* may be gone again */
    BIND_GLOBAL = 1u << 6,   /* `global` here: the module's is meant */
    BIND_NONLOCAL = 1u << 7, /* `nonlocal` here: an outer function's is meant */
    BIND_STAR = 1u << 8,     /* came with `import *` */
    BIND_CAUGHT = 1u << 9,   /* by an except clause */
};

struct binding {
    uint32_t scope, name;
    uint32_t bind;       /* enum bind, all that ever bind it */
    uint32_t node;       /* the last class or function that was bound to it */
    uint32_t times;      /* how many places bind it */
    uint32_t holds;      /* head of its list in hold.c, 0 when empty */
    uint32_t held;       /* length of that list */
    uint32_t held_paths; /* of these, things of modules */
    uint32_t
        source;     /* the expression that it is bound to, 0 when that cannot be told; see hold.c */
    uint32_t texts; /* how many places bind it to a literal text */
    /* The first statement straight in its scope's body that binds it, plus one; 0 when there is
     * none: once that has run, the name is there. */
    uint32_t statement;
};

struct scopes {
    const struct tree *t; /* borrowed */
    struct binding *bindings;
    uint32_t n, cap;
    uint32_t *table; /* hash of bindings by scope and name, plus one */
    uint32_t table_cap;
};

/* Collect the bindings of all nodes and resolve every name that is read: node.binding, node.outer
 * and node.is_free. Returns 0, or -1 with a Python exception. */
int scopes_init(struct scopes *s, struct tree *t);
void scopes_done(struct scopes *s);

/* The binding of a name in one scope, NULL when that scope does not bind it. */
struct binding *scope_find(const struct scopes *s, uint32_t scope, uint32_t name);

/* Bind a name that no node stands for. NULL with a Python exception. */
struct binding *scope_bind(struct scopes *s, uint32_t scope, uint32_t name, uint32_t bind);

/* Resolve the names that are read, again after scope_bind(). */
void scopes_resolve(struct scopes *s, struct tree *t);

/* Is a name of the module's or of a class's certainly bound when this node reads it? Until asked,
 * node.is_free says that it may not be. */
bool scope_is_certain(const struct scopes *s, const struct node *node);

/* Is this no class's scope, or that of a class without bases and keywords? In others a metaclass
 * may decide what names mean. */
bool scope_is_plain(const struct tree *t, uint32_t scope);

/* The scope that a name bound in `scope` goes to: after `global`, `nonlocal`, and for a walrus in a
 * comprehension. */
uint32_t scope_of_store(const struct scopes *s, uint32_t scope, uint32_t name, bool is_walrus);

static inline struct binding *binding_of(const struct scopes *s, const struct node *node)
{
    return node->binding ? &s->bindings[node->binding - 1] : NULL;
}

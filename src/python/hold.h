#pragma once
/*
 * What a name or an expression may hold: modules and what they give, builtins, constants, classes
 * of the program's own. A name holds everything that is ever bound to it, whatever the order.
 *
 * The strict rules do not lean on this alone: they refuse a module wherever it would go out of
 * sight. So what is lost here (through calls, containers, attributes) was refused before.
 */
#include "python/rules.h"
#include "python/scope.h"

/* Members of modules, and builtins, that some rule knows. */
enum special {
    SPECIAL_NONE,
    SPECIAL_TYPE,
    SPECIAL_STR,
    SPECIAL_OBJECT,
    SPECIAL_SUPER,
    SPECIAL_RANGE,
    SPECIAL_MAKE_BYTES, /* bytes, bytearray */
    SPECIAL_GETATTR,
    SPECIAL_ATTRIBUTE_FN, /* its kind: setattr, delattr, hasattr */
    SPECIAL_IMPORT,       /* __import__, importlib.import_module */
    SPECIAL_MODULES,      /* sys.modules */
    SPECIAL_WRAPS,
    SPECIAL_UPDATE_WRAPPER,
    SPECIAL_DISPATCH,
    SPECIAL_DATACLASS,
    SPECIAL_FIELDS,    /* gives the fields of a dataclass */
    SPECIAL_FIELD,     /* makes one */
    SPECIAL_REPLACE,   /* dataclasses.replace */
    SPECIAL_COPIES,    /* copies what is in an object: asdict, astuple */
    SPECIAL_USER_DICT, /* its copy() copies an object of the program's */
    SPECIAL_PROPERTY,
    SPECIAL_HINTS, /* takes type hints apart: get_args, get_origin */
    SPECIAL_ATTRGETTER,
    SPECIAL_ENVIRON,
    SPECIAL_RECORD, /* namedtuple() */
    SPECIAL_ABC_META,
    SPECIAL_URL_TEXT /* urllib.parse, urllib.error */
};

/* A dotted name that starts at a module: os, os.path, os.path.join. */
struct path {
    uint32_t parent; /* 0 for a top-level module */
    uint32_t root;
    uint32_t name;
    PyObject *live; /* borrowed: what the interpreter has by that name; NULL when not loaded */
    uint16_t depth;
    bool is_module;  /* a module, for certain */
    bool is_builtin; /* one of `builtins` */
    bool is_missing; /* its module is loaded and lacks it */
    bool is_read;    /* some attribute stands for it, rather than an import */
    uint8_t special; /* enum special */
};

enum hold {
    HOLD_NOTHING, /* that is known of */
    HOLD_PATH,
    HOLD_TEXT,     /* a string constant: its node */
    HOLD_CLASS,    /* a class statement: its node */
    HOLD_INSTANCE, /* of such a class */
    HOLD_RECORD,   /* the class that a call of namedtuple() makes: the call */
    HOLD_UNSURE,   /* too much to keep track of, things of modules among it */
    HOLD_MORE,     /* more texts and classes than are kept */
    HOLD_MANY
};

struct holds {
    struct tree *t;
    struct scopes *s;
    const struct rules *rules;
    PyObject *modules, *builtins, *standard; /* borrowed; the last may be NULL */
    struct path *paths;                      /* from 1 */
    uint32_t path_n, path_cap;
    uint32_t *path_table;
    uint32_t path_table_cap;
    uint32_t *of;   /* value of each node */
    uint32_t *work; /* nodes that may have one */
    uint32_t work_n;
    struct flow {
        uint32_t name, from; /* `from` with FLOW_ELEMENT for its elements */
    } * flows;
    uint32_t flow_n, flow_cap;
    struct held {
        uint32_t value, next;
    } * lists; /* from 1 */
    uint32_t list_n, list_cap;
    uint32_t *many; /* a length and as many values, again and again */
    uint32_t many_n, many_cap;
    uint32_t
        *free; /* by name: the path of what nobody binds, FREE_NONE, or 0 before it was asked */
    uint32_t free_cap;
    bool is_settled; /* what names hold was followed to its end */
    bool is_tangled; /* and there was more than is followed */
    bool is_broken;  /* memory ran out: there is a Python exception */
};

/* Returns 0, or -1 with a Python exception; holds_done() in either case. */
int holds_init(struct holds *h, struct tree *t, struct scopes *s, const struct rules *rules);
void holds_done(struct holds *h);

static inline enum hold hold_kind(uint32_t value)
{
    return (enum hold)(value >> 28);
}

static inline uint32_t hold_what(uint32_t value)
{
    return value & 0x0fffffff;
}

/* The values of a node one by one: start with *at = 0; false when there are no more. */
bool hold_next(const struct holds *h, uint32_t node, uint32_t *at, uint32_t *ret);

/* The only thing that a node may hold, HOLD_NOTHING when there are several. */
uint32_t hold_one(const struct holds *h, uint32_t node);

/* The path that a node may hold, among other things perhaps; 0 when none. */
uint32_t hold_path(const struct holds *h, uint32_t node);

static inline enum special path_special(const struct holds *h, uint32_t path)
{
    return path ? (enum special)h->paths[path].special : SPECIAL_NONE;
}

/* Its text, cut to the size of the buffer. */
const char *path_text(const struct holds *h, uint32_t path, char *buf, size_t size);

/* The path of a dotted module name; 0 with a Python exception. */
uint32_t path_module(struct holds *h, const char *dotted);

/* An attribute of a path; 0 with a Python exception. */
uint32_t path_child(struct holds *h, uint32_t parent, uint32_t name);

/* Is this the name of a module of the standard library? */
bool is_standard_module(const struct holds *h, const char *name);

/* The path of a name that the program does not bind: a builtin, or a module that the rules know;
 * 0 when it is neither. */
uint32_t free_path(struct holds *h, uint32_t name);

/* Is it one of the interpreter's builtins? */
bool is_builtin(struct holds *h, uint32_t name);

/* What `from module import name` (an alias node) stands for; 0 when relative, or broken. */
uint32_t path_of_alias(struct holds *h, const struct node *alias);

/* The constant text of an expression: a literal, or literals added up. A new bytes object, or
 * NULL without an exception. */
PyObject *folded_text(const struct holds *h, uint32_t node);

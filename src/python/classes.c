/* Classes: which expressions are certainly one, made the ordinary way. Decorators and patterns
 * that read attributes by name are allowed on those only. */
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

enum {
    LOOK_MAX = 64 /* nodes, bases, steps: more is not followed */
};

static const struct rule pattern_class = {
    "pattern-class", "which attributes the pattern {}(...) reads cannot be told",
    "match by keyword, as in {}(name=x), or against a plain class", 0, 0
};
static const struct rule pattern_attribute = { "pattern-attribute",
                                               "the class pattern reads the attribute {}",
                                               "match on ordinary attributes", 0, 0 };
static const struct rule register_hints = {
    "evaluates-text", "{} may evaluate annotations that are texts",
    "register with a class by its name: @function.register(int)", 0, 0
};
static const struct rule match_args = { "match-args",
                                        "{} must be a tuple of plain attribute names, as literals",
                                        "write it out, or match by keyword", 0, 0 };

/* ---- sure names ---- */

/* What a name is bound to, when that decides what it is; NULL when the name itself tells, or
 * nothing does (then *ret_is_sure says which). */
static const struct node *source_of(const struct checker *c, const struct node *name,
                                    bool *ret_is_sure)
{
    const struct binding *b = binding_of(&c->s, name);

    *ret_is_sure = false;
    if (!scope_is_plain(&c->t, name->scope))
        return NULL;
    if (!b) {
        *ret_is_sure = name->is_free && hold_path(&c->h, node_index(&c->t, name)) != 0;
        return NULL;
    }
    if (b->times != 1 || name->outer || !scope_is_plain(&c->t, b->scope))
        return NULL;
    *ret_is_sure = b->bind == BIND_IMPORT || b->bind == BIND_CLASS;
    return b->bind == BIND_OTHER && b->source ? &c->t.nodes[b->source] : NULL;
}

/* A member of a module: nobody can have changed it, as with those of classes. */
static bool is_member_of_module(const struct checker *c, const struct node *attribute)
{
    uint32_t value = hold_one(&c->h, node_index(&c->t, attribute));

    return hold_kind(value) == HOLD_PATH &&
           c->h.paths[c->h.paths[hold_what(value)].parent].is_module;
}

bool is_sure(const struct checker *c, const struct node *node)
{
    for (int i = 0; i < LOOK_MAX; i++) {
        bool is_it = false;

        switch (node->kind) {
        case K_Name:
            node = source_of(c, node, &is_it);
            if (!node)
                return is_it;
            break;
        case K_Attribute:
            if (!is_member_of_module(c, node))
                return false;
            node = &c->t.nodes[node->first];
            break;
        case K_Subscript:
        case K_Call: /* of a class, or of what makes one: its value says which */
            node = &c->t.nodes[node->first];
            break;
        default:
            return false;
        }
    }
    return false;
}

/* One name, or several apart: `x y`, `x, y`. In ASCII, since there are more blanks beyond it. */
static bool is_safe_text(const struct node *node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    PyObject *bytes = constant_bytes(node);
    bool is_safe = bytes && PyUnicode_Check(node->value);
    const char *at = bytes ? PyBytes_AsString(bytes) : "";

    while (is_safe && *at) {
        size_t len = strspn(at, letters), gap = strspn(at + len, " ,\t\n");
        uint32_t w = words_of(at, len);

        is_safe = len + gap > 0 && !(w & (WORD_INTERNAL | WORD_LOOP | WORD_PRIVATE | WORD_DUNDER |
                                          WORD_MODULE | WORDS_ROAD));
        at += len + gap;
    }
    is_safe = is_safe && at == PyBytes_AsString(bytes) + PyBytes_Size(bytes);
    Py_XDECREF(bytes);
    return is_safe;
}

/* namedtuple("P", "x y"), NamedTuple("P", [("x", int)]): the fields are literals. */
static bool is_literal_record(const struct checker *c, const struct node *call)
{
    const struct node *fields = &c->t.nodes[call->first + 2];

    if (tree_count(&c->t, call, F_args) < 2 || c->t.nodes[call->first + 1].kind == K_Starred ||
        !is_sure(c, &c->t.nodes[call->first]))
        return false;
    if (fields->kind == K_Constant)
        return is_safe_text(fields);
    if ((fields->kind != K_List && fields->kind != K_Tuple) || fields->count > LOOK_MAX)
        return false;
    for (uint32_t i = fields->first; i < fields->first + fields->count; i++) {
        const struct node *item = &c->t.nodes[i];
        if (item->kind == K_Tuple && item->count > 0)
            item = &c->t.nodes[item->first];
        if (!is_safe_text(item))
            return false;
    }
    return true;
}

/* ---- plain classes ---- */

/* Decorators that give back the class. */
static bool gives_class(const struct checker *c, const struct node *decorator)
{
    static const char *const known[][2] = { { "dataclasses", "dataclass" },
                                            { "functools", "total_ordering" },
                                            { "typing", "final runtime_checkable" },
                                            { "enum", "unique" } };
    uint32_t value = hold_one(&c->h, node_index(&c->t, decorator));
    const struct path *p = hold_kind(value) == HOLD_PATH ? &c->h.paths[hold_what(value)] : NULL;

    if (!p || p->depth != 1 || !is_sure(c, decorator))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(name_text(&c->t, c->h.paths[p->root].name), known[i][0]) == 0 &&
            list_has(known[i][1], name_text(&c->t, p->name)))
            return true;
    return false;
}

/* A decorator of the program's own may return anything. Those above `from` do not count. */
static bool has_known_decorators(const struct checker *c, const struct node *class, uint32_t from)
{
    for (uint32_t i = class->first; i < class->first + class->count; i++) {
        const struct node *decorator = &c->t.nodes[i];

        if (decorator->role != F_decorator_list || i < from)
            continue;
        if (decorator->kind == K_Call)
            decorator = &c->t.nodes[decorator->first];
        if (!gives_class(c, decorator))
            return false;
    }
    return true;
}

static bool has_plain_keywords(const struct checker *c, const struct node *class)
{
    for (uint32_t i = class->first; i < class->first + class->count; i++) {
        const struct node *keyword = &c->t.nodes[i];

        if (keyword->role != F_keywords)
            continue;
        if (keyword->name == 0)
            return false;
        if (strcmp(name_text(&c->t, keyword->name), "metaclass") == 0 &&
            !(is_sure(c, &c->t.nodes[keyword->first]) &&
              path_special(&c->h, hold_path(&c->h, keyword->first)) == SPECIAL_ABC_META))
            return false;
    }
    return true;
}

/* What a base or a pattern's class is: push the class statement behind it onto `todo`. */
static bool is_plain_step(const struct checker *c, const struct node *node, uint32_t *todo,
                          uint32_t *n)
{
    uint32_t value;

    if (node->kind == K_Subscript && defines(c, "__class_getitem__"))
        return false;
    while (node->kind == K_Subscript)
        node = &c->t.nodes[node->first];
    value = hold_one(&c->h, node_index(&c->t, node));
    if (hold_kind(value) == HOLD_RECORD)
        return (node->kind == K_Call || is_sure(c, node)) &&
               is_literal_record(c, &c->t.nodes[hold_what(value)]);
    if (!is_sure(c, node))
        return false;
    if (hold_kind(value) == HOLD_PATH)
        return path_special(&c->h, hold_what(value)) != SPECIAL_TYPE;
    if (hold_kind(value) != HOLD_CLASS || *n >= LOOK_MAX ||
        !has_known_decorators(c, &c->t.nodes[hold_what(value)], 0))
        return false;
    todo[(*n)++] = hold_what(value);
    return true;
}

static bool statement_is_plain(const struct checker *c, uint32_t class)
{
    uint32_t todo[LOOK_MAX + 1] = { class }, n = 1;

    for (uint32_t done = 0; done < n; done++) {
        const struct node *node = &c->t.nodes[todo[done]];

        if (!has_plain_keywords(c, node))
            return false;
        for (uint32_t i = node->first; i < node->first + node->count; i++)
            if (c->t.nodes[i].role == F_bases && !is_plain_step(c, &c->t.nodes[i], todo, &n))
                return false;
    }
    return true;
}

bool class_is_plain(const struct checker *c, uint32_t expression)
{
    uint32_t todo[LOOK_MAX + 1], n = 0;

    if (!is_plain_step(c, &c->t.nodes[expression], todo, &n))
        return false;
    return n == 0 || statement_is_plain(c, todo[0]);
}

bool is_plain_object(const struct checker *c, uint32_t expression)
{
    const struct node *node = &c->t.nodes[expression];
    uint32_t value = hold_one(&c->h, expression), class = hold_what(value);

    if (!is_sure(c, node->kind == K_Call ? &c->t.nodes[node->first] : node))
        return false;
    if (hold_kind(value) != HOLD_INSTANCE && hold_kind(value) != HOLD_CLASS)
        return hold_kind(value) == HOLD_PATH;
    return !defines(c, "__new__") && has_known_decorators(c, &c->t.nodes[class], 0) &&
           statement_is_plain(c, class);
}

bool decorates_plain_class(const struct checker *c, uint32_t load)
{
    const struct node *node = &c->t.nodes[load], *parent = node_parent(&c->t, node);

    if (parent->kind == K_Call && node->role == F_func) {
        node = parent;
        parent = node_parent(&c->t, node);
    }
    return node->role == F_decorator_list && parent->kind == K_ClassDef &&
           has_known_decorators(c, parent, node_index(&c->t, node)) &&
           statement_is_plain(c, node_index(&c->t, parent));
}

/* ---- patterns ---- */

void check_class_pattern(struct checker *c, uint32_t pattern)
{
    const struct node *node = &c->t.nodes[pattern];
    const struct node *class = tree_child(&c->t, node, F_cls);

    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct node *attribute = &c->t.nodes[i];
        if (attribute->role != F_kwd_attrs)
            continue;
        if (words(c, attribute->name) & (WORD_DUNDER | WORD_TOLD) ||
            attribute_refusal(c, attribute->name, false))
            finding_add(&c->f, &pattern_attribute, pattern, SUBJECT_NAME, attribute->name, true);
    }
    if (class && tree_child(&c->t, node, F_patterns) &&
        !class_is_plain(c, node_index(&c->t, class)))
        finding_add(&c->f, &pattern_class, pattern, SUBJECT_NAME, class->name, true);
}

void check_match_args(struct checker *c, uint32_t name)
{
    const struct node *node = &c->t.nodes[name], *statement = node_parent(&c->t, node);
    const struct node *value = NULL;

    if (c->t.scopes[node->scope].kind != SCOPE_CLASS)
        return;
    if (statement->kind == K_Assign || statement->kind == K_AnnAssign)
        value = tree_child(&c->t, statement, F_value);
    if (value && (value->kind == K_Tuple || value->kind == K_List)) {
        for (uint32_t i = value->first; i < value->first + value->count; i++) {
            PyObject *bytes = constant_bytes(&c->t.nodes[i]);
            uint32_t attribute =
                bytes ? tree_name(&c->t, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)) : 0;
            Py_XDECREF(bytes);
            if (attribute == 0 || attribute_refusal(c, attribute, false))
                value = NULL;
            if (!value)
                break;
        }
    } else {
        value = NULL;
    }
    if (!value)
        finding_add(&c->f, &match_args, name, SUBJECT_NAME, node->name, true);
}

/* ---- singledispatch ---- */

/* A class that is named, not computed: nothing in it is text to be evaluated. */
static bool is_named_type(const struct checker *c, uint32_t annotation)
{
    uint32_t todo[LOOK_MAX] = { annotation }, n = 1;

    while (n > 0) {
        const struct node *node = &c->t.nodes[todo[--n]];
        enum hold kind = hold_kind(hold_one(&c->h, node_index(&c->t, node)));

        if (node->kind == K_Name || node->kind == K_Attribute) {
            uint32_t value = hold_one(&c->h, node_index(&c->t, node));
            if (!is_sure(c, node) || (kind != HOLD_PATH && kind != HOLD_CLASS) ||
                (kind == HOLD_CLASS && !has_known_decorators(c, &c->t.nodes[hold_what(value)], 0)))
                return false;
        } else if ((node->kind == K_Subscript && !defines(c, "__class_getitem__")) ||
                   node->kind == K_Tuple || (node->kind == K_BinOp && node->mark == K_BitOr)) {
            if (n + node->count > LOOK_MAX)
                return false;
            for (uint32_t i = 0; i < node->count; i++)
                todo[n++] = node->first + i;
        } else if (node->kind != K_Constant || node->value != Py_None) {
            return false;
        }
    }
    return true;
}

static bool has_named_types(const struct checker *c, const struct node *function)
{
    const struct node *args = tree_child(&c->t, function, F_args);
    const struct node *returns = tree_child(&c->t, function, F_returns);

    if (returns && !is_named_type(c, node_index(&c->t, returns)))
        return false;
    for (uint32_t i = args->first; i < args->first + args->count; i++) {
        const struct node *arg = &c->t.nodes[i];
        const struct node *annotation =
            arg->kind == K_arg ? tree_child(&c->t, arg, F_annotation) : NULL;
        if (annotation && !is_named_type(c, node_index(&c->t, annotation)))
            return false;
    }
    return true;
}

/* Others below it may put another function in place of the one that is written here. */
static bool is_last_decorator(const struct checker *c, const struct node *decorator)
{
    const struct node *parent = node_parent(&c->t, decorator);
    uint32_t next = node_index(&c->t, decorator) + 1;

    return next == parent->first + parent->count || c->t.nodes[next].role != F_decorator_list;
}

void check_register(struct checker *c, uint32_t attribute)
{
    const struct node *node = &c->t.nodes[attribute], *parent = node_parent(&c->t, node);
    bool is_fine = false;

    if (is_plain_object(c, node->first))
        return; /* somebody else's register() */
    if (node->role == F_decorator_list &&
        (parent->kind == K_FunctionDef || parent->kind == K_AsyncFunctionDef))
        is_fine = is_last_decorator(c, node) && has_named_types(c, parent);
    else if (parent->kind == K_Call && node->role == F_func &&
             tree_count(&c->t, parent, F_args) > 0)
        is_fine = is_named_type(c, parent->first + 1);
    if (!is_fine)
        finding_add(&c->f, &register_hints, attribute, SUBJECT_NAME, node->name, true);
}

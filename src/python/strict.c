/*
 * The strict rules, and those of the operator's lists.
 *
 * Strict refuses capabilities, not syntax. The one rule that the others lean on: a module may only
 * be used through its attributes. A module that would get another name, or go into a call, a
 * container, a return value, is refused there, so none ever goes where it cannot be seen.
 */
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

static const struct rule module_escape = {
    "module-escape", "the module {} may only be used through its attributes, as in {}.NAME",
    "use {}.NAME where it is needed, or import it under the other name", 0, 0
};
static const struct rule module_unsure = { "module-escape",
                                           "{} may be one of too many things to follow",
                                           "give each of them a name of its own", 0, 0 };
static const struct rule module_change = { "module-change", "{} would change a module",
                                           "keep your own values in names of your own", 0, 0 };
static const struct rule module_unlisted = {
    "import", "the module {} is not allowed",
    "use an allowed module, or ask the operator for --allow-import {}", 0, 0
};

#define BUILTIN "builtin", "the builtin {} is not allowed"
#define ALLOW   ", or ask the operator for --allow-builtin {}"
static const struct builtin_rule {
    const char *names;
    struct rule rule;
} builtin_rules[] = {
    { "open",
      { BUILTIN, "use pathlib: Path(name).read_text(), .write_text(), .open()" ALLOW, 0, 0 } },
    { "input",
      { BUILTIN, "nobody is there to answer: write the value into the code, or read a file" ALLOW,
        0, 0 } },
    { "getattr hasattr setattr delattr",
      { BUILTIN,
        "write x.name, with try and except where it may be missing; a dictionary for names "
        "that are computed" ALLOW,
        0, 0 } },
    { "eval exec compile",
      { BUILTIN, "write the code itself; json.loads() reads values" ALLOW, 0, 0 } },
    { "vars dir globals locals",
      { BUILTIN, "name the attributes or variables; keep values in a dictionary of your own" ALLOW,
        0, 0 } },
    { "__import__", { BUILTIN, "write an import statement" ALLOW, 0, 0 } },
    { "exit quit", { BUILTIN, "raise SystemExit" ALLOW, 0, 0 } },
};
static const struct rule builtin_blocked = {
    BUILTIN, "do it without {}" ALLOW "; a function of your own must be defined before this line",
    0, 0
};
static const struct rule name_blocked = { "builtin", "the name {} is blocked", "do it without {}",
                                          0, 0 };
static const struct rule dunder_name = { "dunder-name", "the name {} belongs to the interpreter",
                                         "do it without {}", 0, 0 };
static const struct rule internal_name = { "internals",
                                           "{} is the name of a part of the interpreter",
                                           "give the attribute another name", 0, 0 };
static const struct rule wraps_use = {
    "attribute-names",
    "{} may only be called with the functions, without a list of "
    "attributes to copy",
    "leave assigned= and updated= out", 0, 0
};
static const struct rule dataclass_use = { "dataclass-use",
                                           "{} may only decorate a class statement without a "
                                           "metaclass",
                                           "write @dataclass above a plain class", 0, 0 };
static const struct rule replace_use = {
    "dataclass-use",
    "{} reads attributes by names that its argument gives, and this program has classes that could "
    "give any: a metaclass, __getattr__, __getattribute__ or classes made by type()",
    "build the new object by calling its class", 0, 0
};
static const struct rule copy_use = {
    "dataclass-use",
    "{} copies what it finds, and this program has classes that say how: __new__, __getstate__, "
    "__getattr__, a metaclass or classes made by type()",
    "write a method that names the attributes", 0, 0
};
static const struct rule user_dict_use = {
    "dataclass-use", "{} copies itself, and this program has classes that say how",
    "derive from dict, or leave __copy__ out", 0, 0
};
static const struct rule attribute_text = { "attribute-names",
                                            "{} with a name that would not be allowed as code",
                                            "read ordinary attributes, by a literal name", 0, 0 };
static const struct rule environ_change = { "environ-change", "{} would be changed",
                                            "os.environ may only be read", 0, 0 };
static const struct rule environ_use = { "environ-change", "{} goes where it could be changed",
                                         "hand on a copy, dict({}), or the values themselves", 0,
                                         0 };
static const struct rule key_use = { "dunder-key", "the key {} reaches into the interpreter",
                                     "use a key of your own", 0, 0 };
static const struct rule names_tangled = {
    "names-tangled", "values are handed from name to name too often to be followed",
    "use fewer names for the same thing", 0, 0
};
static const struct rule unknown_syntax = {
    "unknown-syntax", "this is syntax that the checker does not know, so it cannot allow it",
    "write it in another way", 0, 0
};

static void report_name(struct checker *c, const struct rule *rule, uint32_t node)
{
    finding_add(&c->f, rule, node, SUBJECT_NAME, c->t.nodes[node].name, true);
}

static void report_path(struct checker *c, const struct rule *rule, uint32_t node, uint32_t path)
{
    finding_add(&c->f, rule, node, SUBJECT_PATH, path, true);
}

/* ---- special members ---- */

static const struct node *call_of(const struct checker *c, uint32_t node)
{
    const struct node *parent = node_parent(&c->t, &c->t.nodes[node]);

    return parent->kind == K_Call && c->t.nodes[node].role == F_func ? parent : NULL;
}

static bool has_starred(const struct checker *c, const struct node *call)
{
    for (uint32_t i = call->first; i < call->first + call->count; i++)
        if (c->t.nodes[i].kind == K_Starred ||
            (c->t.nodes[i].kind == K_keyword && !c->t.nodes[i].name))
            return true;
    return false;
}

/* The last decorator of a function gets a true function. */
static bool decorates_function(const struct checker *c, const struct node *call)
{
    const struct node *function = node_parent(&c->t, call);
    uint32_t last = 0;

    if (call->role != F_decorator_list ||
        (function->kind != K_FunctionDef && function->kind != K_AsyncFunctionDef))
        return false;
    for (uint32_t i = function->first; i < function->first + function->count; i++)
        if (c->t.nodes[i].role == F_decorator_list)
            last = i;
    return last == node_index(&c->t, call);
}

/* wraps() and update_wrapper() ask their target for its namespace and tell it what the other one's
 * is: fine where the target is a function, or where no class can answer for itself. */
static bool is_wraps_use(const struct checker *c, uint32_t i, uint32_t functions)
{
    const struct node *call = call_of(c, i);

    if (!call || call->count != functions + 1 || has_starred(c, call) ||
        tree_count(&c->t, call, F_args) != functions)
        return false;
    return (functions == 1 && decorates_function(c, call)) || !answers_for_itself(c);
}

/* getattr(x, "name"), attrgetter("a.b"): the name must pass as code would. */
static bool is_attribute_text(struct checker *c, uint32_t node)
{
    PyObject *bytes = folded_text(&c->h, node);
    const char *at = bytes ? PyBytes_AsString(bytes) : "";
    bool is_fine = bytes != NULL;

    while (is_fine && *at) {
        size_t len = strcspn(at, ".");
        uint32_t name = tree_name(&c->t, at, len);

        is_fine = name != 0 && !attribute_refusal(c, name, false);
        at += len + (at[len] == '.');
    }
    Py_XDECREF(bytes);
    return is_fine;
}

/* The operator allowed getattr: names that are computed are then the operator's affair; literal
 * ones are read. */
static bool is_attribute_call(struct checker *c, uint32_t i)
{
    const struct node *call = call_of(c, i);
    PyObject *bytes;

    if (!call || tree_count(&c->t, call, F_args) < 2)
        return true;
    bytes = folded_text(&c->h, call->first + 2);
    if (!bytes)
        return true;
    Py_DECREF(bytes);
    return is_attribute_text(c, call->first + 2);
}

static bool is_getter_call(struct checker *c, uint32_t i)
{
    const struct node *call = call_of(c, i);

    if (!call || has_starred(c, call))
        return false;
    for (uint32_t a = call->first + 1; a < call->first + call->count; a++)
        if (c->t.nodes[a].role == F_args && !is_attribute_text(c, a))
            return false;
    return true;
}

/* Builtins that copy a mapping or look at it. */
static bool only_looks(const struct checker *c, const struct node *call)
{
    return is_builtin_call(c, call,
                           "dict len sorted list set tuple str repr bool print any all iter map "
                           "filter zip enumerate frozenset") ||
           (tree_count(&c->t, call, F_args) == 1 && is_builtin_call(c, call, "min max"));
}

/* Every target is a name that is followed: not an attribute, an item, or a name of a class. */
static bool has_plain_targets(const struct checker *c, const struct node *statement)
{
    if (c->t.scopes[statement->scope].kind == SCOPE_CLASS)
        return false;
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++)
        if (c->t.nodes[i].mark == K_Store && c->t.nodes[i].kind != K_Name)
            return false;
    return true;
}

/* Read in place, copied by a builtin, or given a name that is followed: so that nothing that is not
 * seen can change it. */
static bool is_environ_use(const struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i], *parent = node_parent(&c->t, node);

    switch (parent->kind) {
    case K_Attribute:
    case K_FormattedValue:
    case K_Expr:
    case K_Starred:
        return true;
    case K_keyword: /* f(**os.environ) */
        return parent->name == 0;
    case K_Compare: /* "A" in os.environ */
        return node->role == F_comparators && parent->count == 2 &&
               (parent->mark == K_In || parent->mark == K_NotIn);
    case K_Dict: /* {**os.environ} */
        return !tree_child(&c->t, parent, F_keys);
    case K_Subscript:
        return node->role == F_value;
    case K_Assign:
    case K_AnnAssign:
        return node->role == F_value && has_plain_targets(c, parent);
    case K_For:
    case K_comprehension:
        return node->role == F_iter;
    case K_Call:
        return node->role == F_args && only_looks(c, parent);
    default:
        return false;
    }
}

static void check_special(struct checker *c, uint32_t i, uint32_t path)
{
    switch ((int)path_special(&c->h, path)) {
    case SPECIAL_TYPE:
        check_type(c, i, path);
        break;
    case SPECIAL_WRAPS:
        if (!is_wraps_use(c, i, 1))
            report_path(c, &wraps_use, i, path);
        break;
    case SPECIAL_UPDATE_WRAPPER:
        if (!is_wraps_use(c, i, 2))
            report_path(c, &wraps_use, i, path);
        break;
    case SPECIAL_DATACLASS:
        if (!decorates_plain_class(c, i))
            report_path(c, &dataclass_use, i, path);
        break;
    case SPECIAL_REPLACE:
        if (answers_for_itself(c))
            report_path(c, &replace_use, i, path);
        break;
    case SPECIAL_COPIES:
        if (steers_copies(c))
            report_path(c, &copy_use, i, path);
        break;
    case SPECIAL_USER_DICT:
        if (c->makes_classes || (defines(c, "__copy__") && steers_copies(c)))
            report_path(c, &user_dict_use, i, path);
        break;
    case SPECIAL_GETATTR:
    case SPECIAL_ATTRIBUTE_FN:
        if (!is_attribute_call(c, i))
            report_path(c, &attribute_text, i, path);
        break;
    case SPECIAL_ATTRGETTER:
        if (!is_getter_call(c, i))
            report_path(c, &attribute_text, i, path);
        break;
    case SPECIAL_ENVIRON:
        if (!is_environ_use(c, i))
            report_path(c, &environ_use, i, path);
        break;
    default:
        break;
    }
}

/* ---- what is read ---- */

static bool is_base_of_attribute(const struct checker *c, uint32_t i)
{
    const struct node *parent = node_parent(&c->t, &c->t.nodes[i]);

    return parent->kind == K_Attribute; /* one that is set is told by itself */
}

/* One thing that a name or attribute may hold. */
static void check_held(struct checker *c, uint32_t i, uint32_t value)
{
    uint32_t path = hold_what(value);
    const struct path *p;

    if (hold_kind(value) == HOLD_UNSURE)
        report_name(c, &module_unsure, i);
    if (hold_kind(value) != HOLD_PATH)
        return;
    p = &c->h.paths[path];
    if (p->is_module && !is_base_of_attribute(c, i))
        report_path(c, &module_escape, i, path);
    else if (path_special(&c->h, path))
        check_special(c, i, path);
}

/* A module that was never imported: an earlier cell may have done so. */
static void check_unimported(struct checker *c, uint32_t i, uint32_t path)
{
    if (c->h.paths[path].depth == 0 && !c->h.paths[path].is_builtin &&
        rules_import(&c->rules, name_text(&c->t, c->h.paths[path].name)) != VERDICT_FINE)
        report_path(c, &module_unlisted, i, path);
}

static const struct rule *builtin_rule(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin_rules); i++)
        if (list_has(builtin_rules[i].names, name))
            return &builtin_rules[i].rule;
    return &builtin_blocked;
}

static void check_free_name(struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i];
    const char *text = name_text(&c->t, node->name);

    if (!is_builtin(&c->h, node->name)) {
        if (!node->binding && rules_list_has(c->rules.block_builtins, text))
            report_name(c, &name_blocked, i);
        return;
    }
    if (!(words(c, node->name) & WORD_DUNDER) || c->rules.policy != POLICY_STRICT ||
        rules_list_has(c->rules.allow_builtins, text) ||
        rules_list_has(c->rules.block_builtins, text)) {
        uint32_t at = 0, value;
        while (hold_next(&c->h, i, &at, &value))
            if (hold_kind(value) == HOLD_PATH && c->h.paths[hold_what(value)].is_builtin &&
                c->h.paths[hold_what(value)].name == node->name &&
                c->judged[hold_what(value)].refusal)
                report_name(c, builtin_rule(text), i);
    }
}

static void check_name_load(struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i];
    uint32_t w = words(c, node->name), at = 0, value;
    const struct binding *b = binding_of(&c->s, node);

    if (w & WORD_DUNDER && !(w & WORD_DUNDER_NAME) &&
        (!b || w & WORD_TOLD || !(w & WORD_DUNDER_DEFINE)) &&
        !rules_list_has(c->rules.allow_builtins, name_text(&c->t, node->name))) {
        report_name(c, &dunder_name, i);
        return;
    }
    if (node->is_free)
        check_free_name(c, i);
    while (hold_next(&c->h, i, &at, &value)) {
        if (hold_kind(value) == HOLD_PATH && !b)
            check_unimported(c, i, hold_what(value));
        if (hold_kind(value) == HOLD_PATH && b && b->bind & BIND_STAR &&
            c->judged[hold_what(value)].refusal)
            report_path(c, c->judged[hold_what(value)].refusal, i, hold_what(value));
        check_held(c, i, value);
    }
}

static void check_name_store(struct checker *c, uint32_t i, uint32_t name)
{
    uint32_t w = words(c, name), known = WORD_DUNDER_NAME | WORD_DUNDER_DEFINE;
    bool is_class = c->t.scopes[c->t.nodes[i].scope].kind == SCOPE_CLASS;

    if (w & WORD_DUNDER && !(w & (is_class ? WORD_DUNDER_DEFINE : known)))
        finding_add(&c->f, &dunder_name, i, SUBJECT_NAME, name, true);
    else if (is_class && w & WORD_INTERNAL)
        finding_add(&c->f, &internal_name, i, SUBJECT_NAME, name, true);
    else if (is_class && !(w & WORD_DUNDER) && attribute_refusal(c, name, true))
        finding_add(&c->f, attribute_refusal(c, name, true), i, SUBJECT_NAME, name, true);
    else if (is_class && w & WORD_DUNDER && strcmp(name_text(&c->t, name), "__match_args__") == 0)
        check_match_args(c, i);
}

/* ---- attributes and subscripts ---- */

/* Of a module that is not, its import was reported. */
static bool is_allowed_root(const struct checker *c, const struct path *p)
{
    return p->is_builtin ||
           rules_import(&c->rules, name_text(&c->t, c->h.paths[p->root].name)) == VERDICT_FINE;
}

/* True when what it is was refused, so that its name need not be looked at. */
static bool check_member(struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i];
    uint32_t at = 0, value;
    bool is_told = false;

    while (hold_next(&c->h, i, &at, &value)) {
        uint32_t path = hold_what(value);

        if (hold_kind(value) == HOLD_UNSURE)
            check_held(c, i, value);
        if (hold_kind(value) != HOLD_PATH)
            continue;
        const struct path *p = &c->h.paths[path];

        if (node->mark != K_Load && !p->is_builtin) {
            report_path(c, &module_change, i, path);
            is_told = true;
        } else if (c->judged[path].refusal && is_allowed_root(c, p)) {
            report_path(c, c->judged[path].refusal, i, path);
            is_told = true;
        } else if (node->mark == K_Load) {
            check_held(c, i, value);
        }
    }
    return is_told;
}

static void check_subscript(struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i];
    uint32_t at = 0, value, name;
    PyObject *bytes;

    while (node->mark != K_Load && hold_next(&c->h, node->first, &at, &value))
        if (hold_kind(value) == HOLD_PATH &&
            path_special(&c->h, hold_what(value)) == SPECIAL_ENVIRON)
            report_path(c, &environ_change, i, hold_what(value));
    if (node->count < 2 || c->t.nodes[node->first + 1].kind != K_Constant)
        return;
    bytes = constant_bytes(&c->t.nodes[node->first + 1]);
    if (bytes && words_of(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)) & WORD_KEY) {
        name = tree_name(&c->t, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
        finding_add(&c->f, &key_use, i, SUBJECT_NAME, name, true);
    }
    Py_XDECREF(bytes);
}

/* ---- all nodes ---- */

static void check_node(struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i];

    switch (node->kind) {
    case K_Name:
        if (node_is_read(&c->t, node))
            check_name_load(c, i);
        if (node->mark != K_Load)
            check_name_store(c, i, node->name);
        break;
    case K_Attribute:
        if (!check_member(c, i))
            check_attribute(c, i);
        break;
    case K_Subscript:
        check_subscript(c, i);
        break;
    case K_MatchClass:
        check_class_pattern(c, i);
        break;
    case K_alias:
        check_alias(c, i);
        if (node->as)
            check_name_store(c, i, node->as);
        break;
    case K_FunctionDef:
    case K_AsyncFunctionDef:
    case K_ClassDef:
    case K_ExceptHandler:
    case K_MatchAs:
    case K_MatchStar:
    case K_MatchMapping:
    case K_TypeVar:
    case K_ParamSpec:
    case K_TypeVarTuple:
        if (node->name)
            check_name_store(c, i, node->name);
        break;
    case KIND_UNKNOWN:
        report_name(c, &unknown_syntax, i);
        break;
    default:
        break;
    }
}

void check_strict(struct checker *c)
{
    if (!c->h.is_settled)
        report_name(c, &names_tangled, c->t.own_from);
    for (uint32_t i = 0; i < c->t.own_from; i++) /* of the prelude, its imports */
        if (c->t.nodes[i].kind == K_alias)
            check_alias(c, i);
    for (uint32_t i = c->t.own_from; i < c->t.n; i++)
        check_node(c, i);
}

/* ---- the operator's lists alone ---- */

static bool has_builtin_rules(const struct checker *c)
{
    return c->rules.allow_builtins || json_array_size(c->rules.block_builtins) > 0;
}

static void check_listed(struct checker *c, uint32_t i, bool has_builtins)
{
    const struct node *node = &c->t.nodes[i];
    uint32_t path;

    if (node->kind == K_alias) {
        check_alias(c, i);
    } else if (node->kind == K_Name && node_is_read(&c->t, node) && node->is_free && has_builtins) {
        check_free_name(c, i);
    } else if (node->kind == K_Attribute) {
        path = hold_path(&c->h, i);
        if (path && c->judged[path].refusal)
            report_path(c, c->judged[path].refusal, i, path);
    }
}

/* A module that is imported by its name as text. */
static void check_listed_call(struct checker *c, uint32_t i)
{
    uint32_t value = hold_one(&c->h, i), path = hold_what(value);

    if (hold_kind(value) == HOLD_PATH && c->h.paths[path].is_module)
        check_unimported(c, i, c->h.paths[path].root);
}

void check_lists(struct checker *c)
{
    bool has_builtins = has_builtin_rules(c);

    for (uint32_t i = 0; i < c->t.n; i++) {
        if (i < c->t.own_from && c->t.nodes[i].kind != K_alias)
            continue;
        check_listed(c, i, has_builtins);
        if (c->t.nodes[i].kind == K_Call)
            check_listed_call(c, i);
    }
}

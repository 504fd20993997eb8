/*
 * Classes that are made other than by class statements, and objects that answer for themselves.
 *
 * `type`, a metaclass, or the type of a class makes classes of data: with attributes that no rule
 * has seen, under names that no class statement may define. Strict keeps `type` where it is only
 * asked. What remains (metaclasses are ordinary, and so is a table of handlers by type(x)) is
 * noted: functions of the library that ask an object for names, and read or set what these say,
 * are then refused.
 */
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

enum {
    LOOK_MAX = 64 /* steps upward, elements of a tuple: more is not followed */
};

/* ---- contexts that only look ---- */

static bool is_attribute_class(const struct checker *c, const struct node *node)
{
    return node->kind == K_Attribute && node->mark == K_Load && node->name == c->class_name;
}

static bool holds_type(const struct checker *c, const struct node *node)
{
    uint32_t at = 0, value, i = node_index(&c->t, node);

    if (node->kind != K_Name || !node_is_read(&c->t, node))
        return false;
    while (hold_next(&c->h, i, &at, &value))
        if (hold_kind(value) == HOLD_PATH && path_special(&c->h, hold_what(value)) == SPECIAL_TYPE)
            return true;
    return false;
}

/* The call, when this is called with one plain argument. */
static const struct node *asking_call(const struct checker *c, const struct node *type)
{
    const struct node *call = node_parent(&c->t, type);
    const struct node *arg = &c->t.nodes[call->first + 1];

    return call->kind == K_Call && type->role == F_func && call->count == 2 &&
                   arg->role == F_args && arg->kind != K_Starred
               ? call
               : NULL;
}

static bool is_type_call(const struct checker *c, const struct node *node)
{
    return node->kind == K_Call && node->count == 2 && holds_type(c, &c->t.nodes[node->first]);
}

bool is_builtin_call(const struct checker *c, const struct node *call, const char *names)
{
    const struct node *callee = &c->t.nodes[call->first];
    uint32_t path = call->kind == K_Call ? hold_path(&c->h, call->first) : 0;

    return path && callee->kind == K_Name && is_sure(c, callee) && c->h.paths[path].is_builtin &&
           list_has(names, name_text(&c->t, c->h.paths[path].name));
}

/* isinstance(x, type), isinstance(x, (type, C)), print(type(x)): nobody else sees it. */
static bool is_argument_looked_at(const struct checker *c, const struct node *node)
{
    const struct node *call = node_parent(&c->t, node);

    if (call->kind == K_Tuple) {
        node = call;
        call = node_parent(&c->t, call);
    } else if (node->role == F_args &&
               is_builtin_call(c, call, "print repr str ascii id hash callable bool")) {
        return true;
    }
    return node->role == F_args && node_index(&c->t, node) == call->first + 2 &&
           is_builtin_call(c, call, "isinstance issubclass");
}

/* A type that is named, or asked for, or several: none of them has a method that compares. */
static bool is_known_type(const struct checker *c, const struct node *node)
{
    enum hold kind = hold_kind(hold_one(&c->h, node_index(&c->t, node)));

    switch (node->kind) {
    case K_Constant:
        return true;
    case K_Name:
    case K_Attribute:
        return is_sure(c, node) && (kind == HOLD_PATH || kind == HOLD_CLASS);
    case K_Call:
        return is_type_call(c, node);
    default:
        return false;
    }
}

static bool are_known_types(const struct checker *c, const struct node *node)
{
    if (node->kind != K_Tuple && node->kind != K_List && node->kind != K_Set)
        return is_known_type(c, node);
    for (uint32_t i = node->first; i < node->first + node->count; i++)
        if (!is_known_type(c, &c->t.nodes[i]))
            return false;
    return true;
}

/* type(x) is int, type(x) == type(y), type(x) in (int, str) */
static bool is_compared(const struct checker *c, const struct node *node)
{
    const struct node *compare = node_parent(&c->t, node);
    uint32_t self = node_index(&c->t, node);

    if (compare->kind != K_Compare)
        return false;
    if (compare->count == 2 && (compare->mark == K_Is || compare->mark == K_IsNot))
        return true;
    for (uint32_t i = compare->first; i < compare->first + compare->count; i++)
        if (i != self && !are_known_types(c, &c->t.nodes[i]))
            return false;
    return true;
}

/* `dict[str, type]`: what takes a hint apart is the library's. */
static bool is_hint_step(const struct checker *c, const struct node *node,
                         const struct node *parent)
{
    if (parent->kind == K_Tuple || parent->kind == K_List)
        return true;
    if (parent->kind == K_Subscript && node->role == F_slice) {
        const struct node *base = &c->t.nodes[parent->first];
        uint32_t value = hold_one(&c->h, parent->first);
        return is_sure(c, base) && hold_kind(value) == HOLD_PATH;
    }
    if (parent->kind != K_BinOp || parent->mark != K_BitOr)
        return false;
    for (uint32_t i = parent->first; i < parent->first + parent->count; i++)
        if (&c->t.nodes[i] != node && !is_known_type(c, &c->t.nodes[i]))
            return false;
    return true;
}

/* The annotations of a dataclass can be had from its fields, others by nothing that is allowed. */
static bool is_hint(const struct checker *c, const struct node *node)
{
    for (int i = 0; i < LOOK_MAX; i++) {
        const struct node *parent = node_parent(&c->t, node);

        if (node->role == F_annotation || node->role == F_returns)
            return parent->kind != K_AnnAssign || !(c->lists_fields || c->has_fields) ||
                   c->t.scopes[parent->scope].kind != SCOPE_CLASS;
        if (!is_hint_step(c, node, parent))
            return false;
        node = parent;
    }
    return false;
}

static bool is_metaclass_keyword(const struct checker *c, const struct node *node)
{
    const struct node *keyword = node_parent(&c->t, node);

    return keyword->kind == K_keyword && keyword->name &&
           node_parent(&c->t, keyword)->kind == K_ClassDef &&
           strcmp(name_text(&c->t, keyword->name), "metaclass") == 0;
}

/* ---- what it was asked of ---- */

/* Certainly no class: what an except clause caught, a literal. */
static bool is_instance(const struct checker *c, const struct node *node)
{
    const struct binding *b = node->kind == K_Name ? binding_of(&c->s, node) : NULL;

    switch (node->kind) {
    case K_Name:
        return b && !node->outer && !node->is_free && b->bind == (BIND_CAUGHT | BIND_DELETED);
    case K_Constant:
    case K_JoinedStr:
    case K_List:
    case K_Tuple:
    case K_Dict:
    case K_Set:
        return true;
    default:
        return false;
    }
}

/* The positional parameter of a function at this index; NULL when there are not so many. */
static const struct node *parameter_at(const struct checker *c, const struct node *function,
                                       uint32_t index)
{
    const struct node *args = tree_child(&c->t, function, F_args);

    for (uint32_t i = args->first; i < args->first + args->count; i++) {
        const struct node *arg = &c->t.nodes[i];
        if ((arg->role == F_posonlyargs || arg->role == F_args) && index-- == 0)
            return arg;
    }
    return NULL;
}

const struct node *method_of_parameter(const struct checker *c, const struct node *name,
                                       uint32_t index)
{
    const struct binding *b = name->kind == K_Name ? binding_of(&c->s, name) : NULL;
    const struct node *method, *parameter;

    if (!b || b->bind != BIND_PARAMETER || b->times != 1)
        return NULL;
    method = &c->t.nodes[c->t.scopes[b->scope].node];
    if (method->kind != K_FunctionDef || c->t.scopes[method->scope].kind != SCOPE_CLASS)
        return NULL;
    parameter = parameter_at(c, method, index);
    return parameter && parameter->name == name->name ? method : NULL;
}

static bool is_metaclass_statement(const struct checker *c, const struct node *class)
{
    for (uint32_t i = class->first; i < class->first + class->count; i++)
        if (c->t.nodes[i].role == F_bases &&
            (holds_type(c, &c->t.nodes[i]) || is_type_call(c, &c->t.nodes[i])))
            return true;
    return false;
}

/* type(self)(...) in a method: an object of the same class. */
static bool is_own_object(const struct checker *c, const struct node *name)
{
    const struct node *method = method_of_parameter(c, name, 0);
    const struct node *decorator = method ? tree_child(&c->t, method, F_decorator_list) : NULL;

    if (!method || is_metaclass_statement(c, node_parent(&c->t, method)))
        return false;
    return !decorator ||
           path_special(&c->h, hold_path(&c->h, node_index(&c->t, decorator))) == SPECIAL_PROPERTY;
}

/* What the type was asked of: the argument of type(), the base of .__class__. */
static const struct node *asked_of(const struct checker *c, const struct node *node)
{
    return &c->t.nodes[node->kind == K_Call ? node->first + 1 : node->first];
}

/* ---- rules ---- */

static const struct rule type_use = {
    "type-use", "{} may only be asked for the type of one thing: type(x)",
    "write a class statement to make a class; to look at a type, call type(x) in place", 0, 0
};
static const struct rule type_called = {
    "type-use", "the type of a thing is called: if that thing is a class, this makes classes",
    "call the class by its name; type(self)(...) is fine in a method, and type(e)(...) of what was "
    "caught",
    0, 0
};

static bool is_type_use(const struct checker *c, const struct node *node)
{
    const struct node *parent = node_parent(&c->t, node);

    if (node->role == F_func && parent->kind == K_Call)
        return asking_call(c, node) != NULL;
    return parent->kind == K_Attribute || (parent->kind == K_ClassDef && node->role == F_bases) ||
           (parent->kind == K_MatchClass && node->role == F_cls) || is_metaclass_keyword(c, node) ||
           is_argument_looked_at(c, node) || is_compared(c, node) || is_hint(c, node);
}

static void check_called(struct checker *c, const struct node *node)
{
    const struct node *of = asked_of(c, node);

    if (node->role == F_func && node_parent(&c->t, node)->kind == K_Call && !is_instance(c, of) &&
        !is_own_object(c, of))
        finding_add(&c->f, &type_called, node_index(&c->t, node), SUBJECT_NAME, node->name, true);
}

void check_type(struct checker *c, uint32_t i, uint32_t path)
{
    const struct node *node = &c->t.nodes[i], *call = asking_call(c, node);

    if (!is_type_use(c, node))
        finding_add(&c->f, &type_use, i, SUBJECT_PATH, path, true);
    else if (call)
        check_called(c, call);
}

void check_class_attribute(struct checker *c, uint32_t i)
{
    if (is_attribute_class(c, &c->t.nodes[i]))
        check_called(c, &c->t.nodes[i]);
}

/* ---- may classes be made of data? ---- */

static bool has_starred(const struct checker *c, const struct node *call)
{
    for (uint32_t i = call->first; i < call->first + call->count; i++)
        if (c->t.nodes[i].kind == K_Starred ||
            (c->t.nodes[i].kind == K_keyword && !c->t.nodes[i].name))
            return true;
    return false;
}

/* Where may a type go that may be a metaclass? Called with one argument it is asked again, with
 * none or two it fails. */
static bool goes_further(const struct checker *c, const struct node *node)
{
    for (int i = 0; i < LOOK_MAX; i++) {
        const struct node *parent = node_parent(&c->t, node);

        switch (parent->kind) {
        case K_Attribute:
        case K_FormattedValue:
        case K_Expr:
            return false;
        case K_Compare:
            return !is_compared(c, node);
        case K_Tuple:
            return !is_argument_looked_at(c, node);
        case K_Call:
            if (node->role == F_args && is_argument_looked_at(c, node))
                return false;
            if (node->role == F_func && has_starred(c, parent))
                return true;
            if (node->role == F_func && tree_count(&c->t, parent, F_args) != 1)
                return tree_count(&c->t, parent, F_args) > 2;
            if (node->role != F_func && !is_type_call(c, parent))
                return true;
            break;
        default:
            return true;
        }
        node = parent;
    }
    return true;
}

static bool is_metaclass_path(const struct checker *c, const struct node *node)
{
    uint32_t at = 0, value, i = node_index(&c->t, node);

    while (hold_next(&c->h, i, &at, &value)) {
        const struct path *p = hold_kind(value) == HOLD_PATH ? &c->h.paths[hold_what(value)] : NULL;

        if (!p || p->special == SPECIAL_TYPE)
            continue;
        if (p->special == SPECIAL_ABC_META)
            return !is_metaclass_keyword(c, node);
        if (p->live && PyType_Check(p->live) &&
            PyType_IsSubtype((PyTypeObject *)p->live, &PyType_Type))
            return true;
    }
    return false;
}

static bool may_make_class(const struct checker *c, const struct node *node)
{
    const struct node *call;

    if (node->kind == K_Attribute && is_attribute_class(c, node))
        return !is_instance(c, asked_of(c, node)) && goes_further(c, node);
    if (node->kind == K_Attribute || (node->kind == K_Name && node->mark == K_Load)) {
        if (is_metaclass_path(c, node))
            return true;
    }
    if (!holds_type(c, node))
        return false;
    call = asking_call(c, node);
    if (call)
        return !is_instance(c, asked_of(c, call)) && goes_further(c, call);
    return !is_argument_looked_at(c, node) && !is_compared(c, node) && !is_hint(c, node) &&
           node_parent(&c->t, node)->kind != K_MatchClass;
}

/* ---- slots ---- */

static bool is_slot_name(const struct node *node)
{
    PyObject *bytes = constant_bytes(node);
    const char *text = bytes ? PyBytes_AsString(bytes) : "";
    bool is_fine =
        bytes && PyUnicode_Check(node->value) &&
        (!(words_of(text, strlen(text)) & WORD_DUNDER) || list_has("__dict__ __weakref__", text));

    Py_XDECREF(bytes);
    return is_fine;
}

/* A slot is an attribute of its class, whose name is text. */
static bool has_plain_slots(const struct checker *c, const struct binding *b)
{
    const struct node *statement = b->statement ? &c->t.nodes[b->statement - 1] : NULL;
    const struct node *value =
        statement && (statement->kind == K_Assign || statement->kind == K_AnnAssign)
            ? tree_child(&c->t, statement, F_value)
            : NULL;

    if (!value || b->times != 1 || b->bind != BIND_OTHER)
        return false;
    if (value->kind != K_Tuple && value->kind != K_List && value->kind != K_Set)
        return is_slot_name(value);
    for (uint32_t i = value->first; i < value->first + value->count; i++)
        if (!is_slot_name(&c->t.nodes[i]))
            return false;
    return true;
}

static bool has_odd_slots(const struct checker *c)
{
    uint32_t name = tree_find_name(&c->t, "__slots__", strlen("__slots__"));

    for (uint32_t i = 0; name && i < c->s.n; i++)
        if (c->s.bindings[i].name == name &&
            c->t.scopes[c->s.bindings[i].scope].kind == SCOPE_CLASS &&
            !has_plain_slots(c, &c->s.bindings[i]))
            return true;
    return false;
}

bool makes_classes(const struct checker *c)
{
    if (has_odd_slots(c))
        return true;
    for (uint32_t i = 0; i < c->t.n; i++)
        if (may_make_class(c, &c->t.nodes[i]))
            return true;
    return false;
}

/* ---- who answers for itself ---- */

bool defines(const struct checker *c, const char *text)
{
    uint32_t name = tree_find_name(&c->t, text, strlen(text));

    return name != 0 && name < c->own_n && c->own[name] & OWN_SET;
}

bool answers_for_itself(const struct checker *c)
{
    return c->makes_classes || defines(c, "__getattr__") || defines(c, "__getattribute__");
}

/* The copy of an object is what its class's __new__ gives, and its state is set by name. */
bool steers_copies(const struct checker *c)
{
    return answers_for_itself(c) || defines(c, "__new__") || defines(c, "__getstate__") ||
           defines(c, "__setstate__");
}

/* Attributes by their names, whatever object they are read from; and the texts that read
 * attributes too: templates of str.format. */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

static const struct rule dunder_attribute = {
    "dunder-attribute", "the attribute {} reaches into the interpreter",
    "do it without {}; isinstance(), type(x).__name__ and ordinary attributes are fine", 0, 0
};
static const struct rule internal_attribute = {
    "internals", "{} is part of a frame, a code object, a traceback or the order of classes",
    "do it without looking into the interpreter", 0, 0
};
static const struct rule loop_attribute = {
    "process-or-socket", "{} of an event loop starts processes or opens connections",
    "call a tool that the host gives for this", 0, 0
};
static const struct rule module_road = { "module-attribute",
                                         "{} leads from an object of the library to its modules",
                                         "do it without {}", 0, 0 };
static const struct rule private_attribute = { "private-attribute",
                                               "{} is private, and no class of this program has it",
                                               "use what the object's class documents", 0, 0 };
static const struct rule format_attribute = {
    "format-attribute", "a format template reads the attribute {}",
    "format the values themselves: an f-string is checked like other code", 0, 0
};
static const struct rule format_built = {
    "format-template", "the template of .{}() is not a literal, so what it reads cannot be checked",
    "use an f-string, or a literal template", 0, 0
};
static const struct rule set_attribute = {
    "dunder-attribute", "{} is called with a name that cannot be checked",
    "give the attribute's name as a literal, or assign to it directly", 0, 0
};

static const struct rule field_name = {
    "dataclass-field", "setting .{} could rename a field of a dataclass, whose name becomes code",
    "do not use dataclasses.fields() in a program that sets .{}", 0, 0
};

/* Attributes of the library's objects that are modules, or as good as one, where what must be
 * imported for such an object to be there is. */
static bool is_road(const struct checker *c, uint32_t name)
{
    uint32_t w = words(c, name);

    if (w & WORD_ROAD_TYPING) /* `evaluate` is a name of one's own, where no hint is taken apart */
        return c->has_typing && (w & WORD_PRIVATE || c->has_get_args);
    return (w & WORD_ROAD_PATHLIB && c->has_pathlib) || (w & WORD_ROAD_ASYNCIO && c->has_asyncio) ||
           (w & WORD_ROAD_ERROR && c->is_unsure) || (w & WORD_ROAD_FIELD && c->has_dataclasses) ||
           (w & WORD_ROAD_VIEW && c->has_environ);
}

static bool is_own(const struct checker *c, uint32_t name)
{
    return name < c->own_n && c->own[name] & OWN_SET;
}

const struct rule *attribute_refusal(const struct checker *c, uint32_t name, bool is_store)
{
    uint32_t w = words(c, name);

    if (w & WORD_DUNDER)
        return w & (is_store ? WORD_DUNDER_WRITE : WORD_DUNDER_READ) ? NULL : &dunder_attribute;
    if (w & WORD_INTERNAL)
        return &internal_attribute;
    if (w & WORD_LOOP && c->has_asyncio)
        return &loop_attribute;
    if (w & WORDS_ROAD && is_road(c, name))
        return &module_road;
    if (is_store)
        return c->has_fields && strcmp(name_text(&c->t, name), "name") == 0 ? &field_name : NULL;
    if (w & WORD_PRIVATE && !(w & WORD_SUNDER) && !is_own(c, name))
        return &private_attribute;
    return w & WORD_MODULE && !is_own(c, name) ? &module_road : NULL;
}

/* ---- templates ---- */

/* Report the attributes that one replacement field reads; `at` is behind its brace. Returns where
 * the field's name ends. */
static const char *check_field(struct checker *c, uint32_t node, const char *at, const char *end)
{
    while (at < end && *at != '}' && *at != '!' && *at != ':') {
        const char *from = at + 1;

        if (*at == '[') {
            const char *close = memchr(at, ']', (size_t)(end - at));
            at = close ? close + 1 : end;
            continue;
        }
        if (*at++ != '.')
            continue;
        while (at < end && !strchr(".[}!:", *at))
            at++;
        uint32_t name = tree_name(&c->t, from, (size_t)(at - from));
        if (name == 0)
            c->f.is_broken = true;
        else if (words(c, name) & WORD_DUNDER || attribute_refusal(c, name, false))
            finding_add(&c->f, &format_attribute, node, SUBJECT_NAME, name, true);
    }
    return at;
}

/* Fields may be nested in format specifications: every single brace starts one. */
static void check_template(struct checker *c, uint32_t node, PyObject *bytes)
{
    const char *at = PyBytes_AsString(bytes), *end = at + PyBytes_Size(bytes);
    bool is_text = true;

    while (at < end) {
        if (*at != '{') {
            is_text |= *at++ == '}';
            continue;
        }
        if (is_text && at + 1 < end && at[1] == '{') {
            at += 2;
            continue;
        }
        at = check_field(c, node, at + 1, end);
        is_text = false;
    }
}

static void check_folded(struct checker *c, uint32_t attribute, uint32_t template)
{
    PyObject *bytes = folded_text(&c->h, template);

    if (bytes)
        check_template(c, attribute, bytes);
    else
        finding_add(&c->f, &format_built, attribute, SUBJECT_NAME, c->t.nodes[attribute].name,
                    true);
    Py_XDECREF(bytes);
}

/* Everything that this expression ever holds is a string constant. */
static bool holds_only_text(const struct checker *c, uint32_t node)
{
    const struct node *name = &c->t.nodes[node];
    const struct binding *b = binding_of(&c->s, name);
    uint32_t at = 0, value;

    if (name->kind != K_Name || !b || name->outer || name->is_free || b->bind != BIND_OTHER ||
        b->texts != b->times || !scope_is_plain(&c->t, name->scope) ||
        !scope_is_plain(&c->t, b->scope))
        return false;
    while (hold_next(&c->h, node, &at, &value))
        if (hold_kind(value) != HOLD_TEXT)
            return false;
    return true;
}

/* The class's method of that name is what an object of it has. */
static bool has_method(const struct checker *c, uint32_t scope, uint32_t name)
{
    const struct binding *b = scope_find(&c->s, scope, name);

    return b && b->bind == BIND_FUNCTION && b->times == 1 && b->statement != 0 &&
           !(name < c->own_n && c->own[name] & OWN_CHANGED);
}

/* str.format itself: its template is the first argument. */
static void check_unbound_format(struct checker *c, uint32_t attribute)
{
    const struct node *node = &c->t.nodes[attribute], *call = node_parent(&c->t, node);
    const struct node *template = call->kind == K_Call ? tree_child(&c->t, call, F_args) : NULL;

    if (template && node->role == F_func)
        check_folded(c, attribute, node_index(&c->t, template));
    else
        finding_add(&c->f, &format_built, attribute, SUBJECT_NAME, node->name, true);
}

/* Is this attribute read from a class, for all that is known, or from its namespace? */
static bool is_read_loosely(const struct checker *c, const struct node *node)
{
    if (node->kind == K_Name)
        return node->mark == K_Load && c->t.scopes[node->scope].kind == SCOPE_CLASS;
    return node->kind == K_Attribute && !method_of_parameter(c, &c->t.nodes[node->first], 0) &&
           (hold_kind(hold_one(&c->h, node->first)) != HOLD_INSTANCE ||
            !is_plain_object(c, node->first));
}

/* Where a class has several bases, or was not written as one, any may have another's methods. */
static int collect_loose(struct checker *c)
{
    bool is_any = makes_classes(c) || c->rules.has_earlier;

    c->loose = calloc(c->own_n, 1);
    if (!c->loose) {
        PyErr_NoMemory();
        c->f.is_broken = true;
        return -1;
    }
    for (uint32_t i = 0; i < c->t.n; i++) {
        const struct node *node = &c->t.nodes[i];

        if (is_read_loosely(c, node))
            c->loose[node->name] = 1;
        is_any |= node->kind == K_ClassDef && tree_count(&c->t, node, F_bases) > 1;
    }
    if (is_any)
        memset(c->loose, 1, c->own_n);
    return 0;
}

/* A method that may be read from its class gets anything for its first parameter:
 * C.show("{0.__class__}", x). */
static bool is_loose(struct checker *c, uint32_t name)
{
    if (!c->loose && collect_loose(c) < 0)
        return true;
    return name >= c->own_n || c->loose[name];
}

/* The first parameter of a plain method, in a class that has its own format(). */
static bool is_self(struct checker *c, const struct node *name, uint32_t attribute)
{
    const struct node *method = method_of_parameter(c, name, 0);

    return method && !tree_child(&c->t, method, F_decorator_list) &&
           has_method(c, method->scope, attribute) && !is_loose(c, method->name);
}

/* A function of a module, or the method of a class that has its own. */
static bool has_own_format(const struct checker *c, uint32_t base, uint32_t name)
{
    uint32_t value = hold_one(&c->h, base), what = hold_what(value);

    if (!is_plain_object(c, base))
        return false;
    if (hold_kind(value) == HOLD_PATH)
        return c->h.paths[what].is_module;
    return (hold_kind(value) == HOLD_INSTANCE || hold_kind(value) == HOLD_CLASS) &&
           has_method(c, c->t.nodes[what].own, name);
}

void check_format(struct checker *c, uint32_t attribute)
{
    const struct node *node = &c->t.nodes[attribute], *base = &c->t.nodes[node->first];
    uint32_t value = hold_one(&c->h, node->first), at = 0;

    if (hold_kind(value) == HOLD_PATH && path_special(&c->h, hold_what(value)) == SPECIAL_STR) {
        check_unbound_format(c, attribute);
    } else if (has_own_format(c, node->first, node->name)) {
        return;
    } else if (holds_only_text(c, node->first)) {
        while (hold_next(&c->h, node->first, &at, &value))
            check_folded(c, attribute, hold_what(value));
    } else if (!is_self(c, base, node->name)) {
        check_folded(c, attribute, node->first);
    }
}

/* ---- attribute nodes ---- */

/* Inside a method of that name, the name that the interpreter passed it: nobody else calls it, as
 * it cannot be had by its name, unless a metaclass takes it from the class's namespace. */
static bool is_passed_name(const struct checker *c, const struct node *name, uint32_t method_name)
{
    const struct node *method = method_of_parameter(c, name, 1);

    return method && method->name == method_name && !tree_child(&c->t, method, F_decorator_list) &&
           !c->makes_classes;
}

static bool may_be_set(struct checker *c, uint32_t text)
{
    PyObject *bytes = folded_text(&c->h, text);
    uint32_t name =
        bytes ? tree_name(&c->t, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)) : 0;

    Py_XDECREF(bytes);
    return name != 0 && !attribute_refusal(c, name, true);
}

/* object.__setattr__(self, "name", value), super().__setattr__(name, value) */
static void check_setattr(struct checker *c, uint32_t attribute)
{
    const struct node *node = &c->t.nodes[attribute], *call = node_parent(&c->t, node);
    const struct node *base = &c->t.nodes[node->first];
    bool is_super = base->kind == K_Call;
    uint32_t path = hold_path(&c->h, is_super ? base->first : node->first);
    uint32_t name = call->first + (is_super ? 1 : 2);

    if (call->kind == K_Call && node->role == F_func &&
        path_special(&c->h, path) == (is_super ? SPECIAL_SUPER : SPECIAL_OBJECT) &&
        tree_count(&c->t, call, F_args) >= (is_super ? 1u : 2u) &&
        (may_be_set(c, name) || is_passed_name(c, &c->t.nodes[name], node->name)))
        return;
    finding_add(&c->f, &set_attribute, attribute, SUBJECT_NAME, node->name, true);
}

void check_attribute(struct checker *c, uint32_t attribute)
{
    const struct node *node = &c->t.nodes[attribute];
    bool is_store = node->mark != K_Load;
    const struct rule *rule = attribute_refusal(c, node->name, is_store);
    const char *text;

    if (rule) {
        finding_add(&c->f, rule, attribute, SUBJECT_NAME, node->name, true);
        return;
    }
    if (node->name == c->class_name)
        check_class_attribute(c, attribute);
    if (is_store || !(words(c, node->name) & WORD_TOLD))
        return;
    text = name_text(&c->t, node->name);
    if (text[0] == '_')
        check_setattr(c, attribute);
    else if (text[0] == 'f')
        check_format(c, attribute);
    else if (c->has_dispatch)
        check_register(c, attribute);
}

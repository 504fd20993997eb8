/* What of a module the program may use: by the operator's lists, by what the interpreter has
 * loaded, and by tables of what reaches further than its module's name says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

/* ---- rules ---- */

static const struct rule import_blocked = {
    "import", "the module {} is blocked",
    "do it without {}, or ask the operator for --allow-import {}", 0, 0
};
static const struct rule import_unlisted = {
    "import", "the module {} is not in the list of modules that may be imported",
    "use an allowed module, or ask the operator for --allow-import {}", 0, 0
};
static const struct rule import_relative = {
    "import-relative", "there is no package here that {} could be relative to",
    "import an allowed module by its full name", 0, 0
};
static const struct rule import_star = { "import-star",
                                         "from {} import * brings names that cannot be checked",
                                         "name what you import: from {} import ...", 0, 0 };
static const struct rule import_in_class = {
    "module-escape", "a class body would keep the module {} as an attribute",
    "import {} at the top of the program", 0, 0
};
static const struct rule os_attribute = {
    "os-attribute", "{} is not among what may be used of os",
    "os.environ and os.path are there; for files use pathlib, "
    "or ask the operator for --allow-os-attr",
    0, 0
};
static const struct rule path_function = {
    "os-path", "{} looks at the file system; of os.path only what works on text may be used",
    "use pathlib.Path for files; join, split, basename, dirname, normpath and their kind are fine",
    0, 0
};
static const struct rule module_attribute = { "module-attribute",
                                              "{} is a module that another one happens to use",
                                              "import the module itself, if it is allowed", 0, 0 };
static const struct rule private_name = { "private-name", "{} is private to its module",
                                          "use what the module documents", 0, 0 };
static const struct rule process_or_socket = { "process-or-socket",
                                               "{} starts processes or opens connections",
                                               "call a tool that the host gives for this", 0, 0 };
static const struct rule evaluates_text = { "evaluates-text", "{} runs text as code",
                                            "write the code itself, or do without", 0, 0 };
static const struct rule looks_inside = { "internals", "{} gives frames of running code",
                                          "do it without looking into the interpreter", 0, 0 };
static const struct rule environ_change = {
    "environ-change", "{} may change the environment",
    "read os.environ, by a subscript or with get, items, keys, values, copy", 0, 0
};
static const struct rule builtin_refused = {
    "builtin", "the builtin {} is not allowed",
    "do it without {}, or ask the operator for --allow-builtin {}", 0, 0
};

/* Members that reach further than their module's name says, by root module. */
static const struct table {
    const char *root, *members;
    const struct rule *rule;
} tables[] = {
    { "asyncio",
      "create_subprocess_exec create_subprocess_shell open_connection start_server "
      "open_unix_connection start_unix_server get_child_watcher set_child_watcher "
      "AbstractChildWatcher BaseChildWatcher SafeChildWatcher FastChildWatcher PidfdChildWatcher "
      "MultiLoopChildWatcher ThreadedChildWatcher SubprocessTransport BaseSubprocessTransport "
      "subprocess base_subprocess unix_events windows_events windows_utils streams sslproto "
      "selector_events proactor_events base_events events staggered trsock transports",
      &process_or_socket },
    { "asyncio",
      "base_futures base_tasks constants coroutines format_helpers futures graph log mixins "
      "protocols runners taskgroups tasks threads timeouts tools",
      &module_attribute },
    { "pathlib", "attrgetter methodcaller", &evaluates_text },
    { "asyncio",
      "capture_call_graph format_call_graph print_call_graph FrameCallGraphEntry FutureCallGraph",
      &looks_inside },
    { "typing", "get_type_hints ForwardRef evaluate_forward_ref", &evaluates_text },
    { "typing", "ABCMeta NamedTupleMeta", &module_attribute },
    { "collections", "ABCMeta", &module_attribute },
    { "annotationlib", "get_annotations call_annotate_function ForwardRef", &evaluates_text },
    { "dataclasses", "make_dataclass", &evaluates_text },
    { "inspect", "get_annotations signature", &evaluates_text },
    { "timeit", "timeit repeat Timer main", &evaluates_text },
    { "pickle", "load loads Unpickler", &evaluates_text },
    { "string", "Formatter", &evaluates_text },
    { "copy", "dispatch_table", &private_name },
    { "statistics", "namedtuple", &module_attribute },
    { "uuid", "uuid1 getnode main", &process_or_socket },
    { "uuid", "Enum", &module_attribute },
    { "platform", "popen", &process_or_socket },
    { "webbrowser", "open open_new open_new_tab get register Chrome", &process_or_socket },
};

/* ---- helpers ---- */

static const struct rule *table_refusal(const struct checker *c, const struct path *p)
{
    const char *root = name_text(&c->t, c->h.paths[p->root].name);

    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (tables[i].root[0] == root[0] && strcmp(tables[i].root, root) == 0 &&
            list_has(tables[i].members, name_text(&c->t, p->name)))
            return tables[i].rule;
    return NULL;
}

static bool is_named(const struct checker *c, const struct path *p, const char *text)
{
    return strcmp(name_text(&c->t, p->name), text) == 0;
}

/* os.path, by whatever name it was reached. */
static bool is_os_path(const struct checker *c, const struct path *p)
{
    return p->depth == 1 && is_named(c, p, "path") && is_named(c, &c->h.paths[p->root], "os");
}

/* A module that lies in the package it was reached through: json.decoder, but not json.codecs. */
static bool is_inside(const struct checker *c, uint32_t path)
{
    const struct path *p = &c->h.paths[path];
    const char *root = name_text(&c->t, c->h.paths[p->root].name);
    PyObject *name = p->live ? PyModule_GetNameObject(p->live) : NULL;
    PyObject *bytes = name ? PyUnicode_AsUTF8String(name) : NULL;
    const char *text = bytes ? PyBytes_AsString(bytes) : "";
    size_t len = strlen(root);
    bool is_it = strncmp(text, root, len) == 0 && text[len] == '.';

    PyErr_Clear();
    Py_XDECREF(bytes);
    Py_XDECREF(name);
    return is_it;
}

/* A module that is not loaded cannot be asked; its attributes may be modules that it imports. */
static bool may_be_module(const struct checker *c, const struct path *p)
{
    const char *name = name_text(&c->t, p->name),
               *root = name_text(&c->t, c->h.paths[p->root].name);
    const struct path *parent = &c->h.paths[p->parent];
    const char *above = name_text(&c->t, parent->name);

    if (p->live || parent->live)
        return false;
    if (!is_standard_module(&c->h, root))
        return words(c, p->name) & WORD_MODULE;
    if (strcmp(name, above) == 0) /* random.random, and its kind */
        return false;
    if (strcmp(root, "datetime") == 0 && strcmp(name, "time") == 0)
        return false;
    /* What hangs on a class is no module; asyncio.log may be one, and have others. */
    if (!parent->is_module && (parent->depth != 1 || (above[0] >= 'A' && above[0] <= 'Z')))
        return false;
    return is_standard_module(&c->h, name);
}

/* ---- verdicts ---- */

static const struct rule *os_refusal(const struct checker *c, const struct path *p)
{
    const struct path *parent = &c->h.paths[p->parent];
    char buf[128];

    if (!is_named(c, &c->h.paths[p->root], "os") || !c->rules.allow_os_attrs)
        return NULL;
    if (parent->parent == 0)
        return rules_list_has(c->rules.allow_os_attrs, name_text(&c->t, p->name)) ? NULL
                                                                                  : &os_attribute;
    if (!is_os_path(c, parent) || words(c, p->name) & WORD_LEXICAL)
        return NULL;
    (void)snprintf(buf, sizeof(buf), "path.%s", name_text(&c->t, p->name));
    return rules_list_has(c->rules.allow_os_attrs, buf) ? NULL : &path_function;
}

static const struct rule *builtin_refusal(const struct checker *c, const struct path *p)
{
    const char *name = name_text(&c->t, p->name);
    PyObject *live = PyDict_GetItemString(c->h.builtins, name);
    bool is_implicit = words(c, p->name) & WORD_IMPLICIT;

    if (live && PyType_Check(live) && PyObject_IsSubclass(live, PyExc_BaseException) == 1)
        is_implicit = true;
    PyErr_Clear();
    if (p->depth != 1)
        return NULL;
    return rules_builtin(&c->rules, name, is_implicit) == VERDICT_FINE ? NULL : &builtin_refused;
}

static const struct rule *environ_refusal(const struct checker *c, const struct path *p)
{
    const struct path *parent = &c->h.paths[p->parent];

    return parent->special == SPECIAL_ENVIRON && !(words(c, p->name) & WORD_READER)
               ? &environ_change
               : NULL;
}

static const struct rule *strict_refusal(const struct checker *c, uint32_t path)
{
    const struct path *p = &c->h.paths[path], *parent = &c->h.paths[p->parent];
    const struct rule *rule;

    if (!parent->is_module) {
        rule = environ_refusal(c, p);
        return rule || !may_be_module(c, p) ? rule : &module_attribute;
    }
    if (words(c, p->name) & (WORD_PRIVATE | WORD_DUNDER) && !(words(c, p->name) & WORD_MODULE_READ))
        return &private_name;
    rule = table_refusal(c, p);
    if (rule)
        return rule;
    if (p->is_module && p->live && !is_os_path(c, p) && !is_inside(c, path))
        return &module_attribute;
    return may_be_module(c, p) ? &module_attribute : NULL;
}

static const struct rule *path_refusal(const struct checker *c, uint32_t path)
{
    const struct path *p = &c->h.paths[path];
    const struct rule *rule;

    if (p->is_builtin && p->depth > 0)
        return builtin_refusal(c, p);
    if (p->depth == 0)
        return NULL; /* judged where it is imported */
    rule = c->h.paths[p->parent].is_module ? os_refusal(c, p) : NULL;
    if (rule || c->rules.policy != POLICY_STRICT)
        return rule;
    return strict_refusal(c, path);
}

/* Field objects, elsewhere than as the default in a class body. dataclass() builds text from what
 * they say, so they must not be written to. */
static bool gives_fields(const struct checker *c, uint32_t i)
{
    const struct node *node = &c->t.nodes[i], *call = node_parent(&c->t, node);
    uint32_t path;

    if (node->kind != K_Attribute && (node->kind != K_Name || node->mark != K_Load))
        return false;
    path = hold_path(&c->h, i);
    if (path_special(&c->h, path) == SPECIAL_FIELDS)
        return true;
    if (node->kind == K_Name && node->binding && c->t.scopes[node->scope].kind == SCOPE_CLASS &&
        c->s.bindings[node->binding - 1].scope == node->scope)
        return true; /* in the class body, the name of a field is the field */
    return path_special(&c->h, path) == SPECIAL_FIELD &&
           !(call->kind == K_Call && node->role == F_func && call->role == F_value &&
             node_parent(&c->t, call)->kind == K_AnnAssign &&
             c->t.scopes[call->scope].kind == SCOPE_CLASS);
}

/* Functions that ask an object for names, and read or set what these say. */
static bool reads_names(uint8_t special)
{
    return special == SPECIAL_REPLACE || special == SPECIAL_COPIES ||
           special == SPECIAL_USER_DICT || special == SPECIAL_WRAPS ||
           special == SPECIAL_UPDATE_WRAPPER;
}

/* A __setattr__ of the program's: a metaclass could call it by itself, with names of its own. */
static bool sets_names(const struct checker *c)
{
    return tree_find_name(&c->t, "__setattr__", strlen("__setattr__")) != 0 ||
           tree_find_name(&c->t, "__delattr__", strlen("__delattr__")) != 0;
}

int members_judge(struct checker *c)
{
    /* Earlier cells may have left objects of any of these. */
    bool has_fields = false, has_reader = false, has_earlier = c->rules.has_earlier;

    c->class_name = tree_find_name(&c->t, "__class__", strlen("__class__"));
    c->path_n = c->h.path_n;
    c->judged = calloc(c->path_n + 1, sizeof(*c->judged));
    if (!c->judged) {
        PyErr_NoMemory();
        return -1;
    }
    c->has_asyncio = c->has_pathlib = c->has_typing = c->has_dataclasses = has_earlier;
    c->is_unsure = c->has_get_args = c->has_fields = c->has_environ = has_earlier;
    c->lists_fields = has_earlier;
    for (uint32_t i = 1; i < c->path_n; i++) {
        const struct path *p = &c->h.paths[i];

        c->judged[i].refusal = path_refusal(c, i);
        c->has_dispatch |= p->special == SPECIAL_DISPATCH;
        has_reader |= reads_names(p->special);
        c->lists_fields |= p->special == SPECIAL_FIELDS;
        has_fields |= p->special == SPECIAL_FIELDS || p->special == SPECIAL_FIELD;
        /* Whether the module has such an attribute will only be seen when it runs. */
        c->is_unsure |= p->is_read && !p->live && c->h.paths[p->parent].is_module;
        c->has_get_args |= p->special == SPECIAL_HINTS;
        c->has_environ |= p->special == SPECIAL_ENVIRON;
        c->has_asyncio |= p->depth == 0 && is_named(c, p, "asyncio");
        c->has_pathlib |= p->depth == 0 && is_named(c, p, "pathlib");
        c->has_typing |= p->depth == 0 && is_named(c, p, "typing");
        c->has_dataclasses |= p->depth == 0 && is_named(c, p, "dataclasses");
    }
    for (uint32_t i = c->t.own_from; has_fields && i < c->t.n; i++)
        c->has_fields |= gives_fields(c, i);
    c->makes_classes =
        c->has_get_args || has_earlier || ((has_reader || sets_names(c)) && makes_classes(c));
    return 0;
}

/* ---- imports ---- */

static void report_import(struct checker *c, uint32_t node, enum verdict verdict, uint32_t name)
{
    finding_add(&c->f, verdict == VERDICT_BLOCKED ? &import_blocked : &import_unlisted, node,
                SUBJECT_NAME, name, true);
}

/* The module, or the name in it that a list may have on its own. */
static enum verdict from_verdict(const struct checker *c, const struct node *alias,
                                 const struct node *from)
{
    const char *module = name_text(&c->t, from->name), *name = name_text(&c->t, alias->name);
    enum verdict verdict = rules_import(&c->rules, module), with_name;
    size_t len = strlen(module) + strlen(name) + 2;
    auto_free char *both = malloc(len);

    if (!both || strcmp(module, "__future__") == 0)
        return both ? VERDICT_FINE : VERDICT_BLOCKED;
    (void)snprintf(both, len, "%s.%s", module, name);
    with_name = rules_import(&c->rules, both);
    if (verdict == VERDICT_FINE && with_name == VERDICT_BLOCKED)
        return VERDICT_BLOCKED;
    return verdict == VERDICT_UNLISTED ? with_name : verdict;
}

static void check_path_import(struct checker *c, uint32_t alias, uint32_t path)
{
    const struct node *node = &c->t.nodes[alias];

    for (uint32_t p = path; p != 0; p = c->h.paths[p].parent) {
        if (c->judged[p].refusal) {
            finding_add(&c->f, c->judged[p].refusal, alias, SUBJECT_PATH, p, true);
            return;
        }
    }
    if (c->rules.policy == POLICY_STRICT && c->h.paths[path].is_module &&
        c->t.scopes[node->scope].kind == SCOPE_CLASS)
        finding_add(&c->f, &import_in_class, alias, SUBJECT_PATH, path, true);
}

static void check_from(struct checker *c, uint32_t i)
{
    const struct node *alias = &c->t.nodes[i], *from = node_parent(&c->t, alias);
    bool is_strict = c->rules.policy == POLICY_STRICT;
    enum verdict verdict;
    uint32_t path;

    if (from->small > 0 || from->name == 0) {
        if (is_strict || c->rules.allow_imports)
            finding_add(&c->f, &import_relative, i, SUBJECT_NAME,
                        from->name ? from->name : alias->name, true);
        return;
    }
    verdict = from_verdict(c, alias, from);
    if (verdict != VERDICT_FINE) {
        report_import(c, alias->parent, verdict, from->name);
        return;
    }
    if (strcmp(name_text(&c->t, from->name), "__future__") == 0)
        return;
    if (name_text(&c->t, alias->name)[0] == '*') {
        path = path_module(&c->h, name_text(&c->t, from->name));
        if (is_strict && (!c->h.paths[path].live || is_named(c, &c->h.paths[path], "os")))
            finding_add(&c->f, &import_star, i, SUBJECT_NAME, from->name, true);
        return;
    }
    path = path_of_alias(&c->h, alias);
    if (path != 0 && path < c->path_n)
        check_path_import(c, i, path);
}

void check_alias(struct checker *c, uint32_t i)
{
    const struct node *alias = &c->t.nodes[i];
    enum verdict verdict;
    uint32_t path;

    if (node_parent(&c->t, alias)->kind != K_Import) {
        check_from(c, i);
        return;
    }
    verdict = rules_import(&c->rules, name_text(&c->t, alias->name));
    if (verdict != VERDICT_FINE) {
        report_import(c, i, verdict, alias->name);
        return;
    }
    path = path_of_alias(&c->h, alias);
    if (path != 0 && path < c->path_n)
        check_path_import(c, i, path);
}

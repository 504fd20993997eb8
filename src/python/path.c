/* Dotted names that start at modules, and what the live interpreter knows of them. Nothing is ever
 * imported for a program's sake: what is not loaded is judged by its name. */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "python/hold.h"
#include "python/words.h"

/* ---- the table ---- */

static uint32_t *path_slot(const struct holds *h, uint32_t parent, uint32_t name)
{
    uint32_t hash = (uint32_t)((((uint64_t)parent << 32 | name) * 0x9E3779B97F4A7C15ull) >> 32);
    uint32_t at = hash & (h->path_table_cap - 1), i;

    for (; (i = h->path_table[at]) != 0; at = (at + 1) & (h->path_table_cap - 1))
        if (h->paths[i].parent == parent && h->paths[i].name == name)
            break;
    return &h->path_table[at];
}

static int path_table_grow(struct holds *h)
{
    uint32_t cap = h->path_table_cap ? h->path_table_cap * 2 : 128;
    uint32_t *table = calloc(cap, sizeof(*table));

    if (!table) {
        PyErr_NoMemory();
        return -1;
    }
    free(h->path_table);
    h->path_table = table;
    h->path_table_cap = cap;
    for (uint32_t i = 1; i < h->path_n; i++)
        *path_slot(h, h->paths[i].parent, h->paths[i].name) = i;
    return 0;
}

/* Zero with an exception; *ret_is_new tells whether the path wants filling in. */
static uint32_t path_get(struct holds *h, uint32_t parent, uint32_t name, bool *ret_is_new)
{
    uint32_t i;

    *ret_is_new = false;
    if (h->path_n * 2 >= h->path_table_cap && path_table_grow(h) < 0)
        return 0;
    i = *path_slot(h, parent, name);
    if (i != 0)
        return i;
    if (array_grow(&h->paths, &h->path_cap, h->path_n + 1, sizeof(*h->paths)) < 0)
        return 0;
    i = h->path_n++;
    h->paths[i] = (struct path){ .parent = parent, .name = name, .root = i };
    if (parent != 0) {
        h->paths[i].root = h->paths[parent].root;
        h->paths[i].depth =
            (uint16_t)(h->paths[parent].depth < UINT16_MAX ? h->paths[parent].depth + 1
                                                           : UINT16_MAX);
    }
    *path_slot(h, parent, name) = i;
    *ret_is_new = true;
    return i;
}

/* ---- what is loaded ---- */

static PyObject *dict_get(PyObject *dict, const char *key)
{
    PyObject *value = dict && PyDict_Check(dict) ? PyDict_GetItemString(dict, key) : NULL;

    PyErr_Clear();
    return value;
}

bool is_standard_module(const struct holds *h, const char *name)
{
    PyObject *text;
    int r;

    if (!h->standard)
        return words_of(name, strlen(name)) & WORD_STANDARD;
    text = PyUnicode_FromString(name);
    r = text ? PySequence_Contains(h->standard, text) : 0;
    Py_XDECREF(text);
    PyErr_Clear();
    return r == 1;
}

/* Look a child up in its module's dictionary, past any __getattr__ of the module. */
static void find_live(struct holds *h, struct path *p)
{
    const struct path *parent = &h->paths[p->parent];
    PyObject *dict;

    if (!parent->live || !PyModule_Check(parent->live))
        return;
    dict = PyModule_GetDict(parent->live);
    p->live = dict_get(dict, name_text(h->t, p->name));
    p->is_module = p->live && PyModule_Check(p->live);
    p->is_missing = !p->live && !dict_get(dict, "__getattr__");
}

static enum special special_of(const struct holds *h, const struct path *p)
{
    static const struct {
        const char *root, *name;
        enum special special;
    } specials[] = {
        { "builtins", "type", SPECIAL_TYPE },
        { "builtins", "str", SPECIAL_STR },
        { "builtins", "object", SPECIAL_OBJECT },
        { "builtins", "super", SPECIAL_SUPER },
        { "builtins", "range", SPECIAL_RANGE },
        { "builtins", "bytes", SPECIAL_MAKE_BYTES },
        { "builtins", "bytearray", SPECIAL_MAKE_BYTES },
        { "builtins", "property", SPECIAL_PROPERTY },
        { "builtins", "getattr", SPECIAL_GETATTR },
        { "builtins", "setattr", SPECIAL_ATTRIBUTE_FN },
        { "builtins", "delattr", SPECIAL_ATTRIBUTE_FN },
        { "builtins", "hasattr", SPECIAL_ATTRIBUTE_FN },
        { "builtins", "__import__", SPECIAL_IMPORT },
        { "importlib", "import_module", SPECIAL_IMPORT },
        { "sys", "modules", SPECIAL_MODULES },
        { "functools", "wraps", SPECIAL_WRAPS },
        { "functools", "update_wrapper", SPECIAL_UPDATE_WRAPPER },
        { "functools", "singledispatch", SPECIAL_DISPATCH },
        { "functools", "singledispatchmethod", SPECIAL_DISPATCH },
        { "dataclasses", "dataclass", SPECIAL_DATACLASS },
        { "dataclasses", "fields", SPECIAL_FIELDS },
        { "dataclasses", "Field", SPECIAL_FIELDS },
        { "dataclasses", "field", SPECIAL_FIELD },
        { "dataclasses", "replace", SPECIAL_REPLACE },
        { "dataclasses", "asdict", SPECIAL_COPIES },
        { "dataclasses", "astuple", SPECIAL_COPIES },
        { "copy", "replace", SPECIAL_REPLACE },
        { "copy", "copy", SPECIAL_COPIES },
        { "copy", "deepcopy", SPECIAL_COPIES },
        { "collections", "UserDict", SPECIAL_USER_DICT },
        { "typing", "get_args", SPECIAL_HINTS },
        { "typing", "get_origin", SPECIAL_HINTS },
        { "operator", "attrgetter", SPECIAL_ATTRGETTER },
        { "operator", "methodcaller", SPECIAL_ATTRGETTER },
        { "os", "environ", SPECIAL_ENVIRON },
        { "collections", "namedtuple", SPECIAL_RECORD },
        { "typing", "NamedTuple", SPECIAL_RECORD },
        { "abc", "ABCMeta", SPECIAL_ABC_META },
        { "urllib", "parse", SPECIAL_URL_TEXT },
        { "urllib", "error", SPECIAL_URL_TEXT },
    };
    const char *root = name_text(h->t, h->paths[p->root].name), *name = name_text(h->t, p->name);

    for (size_t i = 0; p->depth == 1 && i < ARRAY_LEN(specials); i++)
        if (specials[i].name[0] == name[0] && strcmp(specials[i].name, name) == 0 &&
            strcmp(specials[i].root, root) == 0)
            return specials[i].special;
    return SPECIAL_NONE;
}

uint32_t path_child(struct holds *h, uint32_t parent, uint32_t name)
{
    bool is_new;
    uint32_t i = path_get(h, parent, name, &is_new);

    if (i != 0 && is_new) {
        h->paths[i].is_builtin = h->paths[parent].is_builtin;
        h->paths[i].special = (uint8_t)special_of(h, &h->paths[i]);
        if (h->paths[parent].is_module)
            find_live(h, &h->paths[i]);
    }
    return i;
}

static uint32_t path_root(struct holds *h, const char *text, size_t len)
{
    uint32_t name = tree_name(h->t, text, len), i;
    bool is_new;

    if (name == 0)
        return 0;
    i = path_get(h, 0, name, &is_new);
    if (i != 0 && is_new) {
        PyObject *live = dict_get(h->modules, name_text(h->t, name));

        h->paths[i].live = live && PyModule_Check(live) ? live : NULL;
        h->paths[i].is_module = true;
        h->paths[i].is_builtin = strcmp(name_text(h->t, name), "builtins") == 0;
    }
    return i;
}

uint32_t path_module(struct holds *h, const char *dotted)
{
    size_t len = strcspn(dotted, ".");
    uint32_t path = path_root(h, dotted, len);

    while (path != 0 && dotted[len] == '.') {
        uint32_t name;

        dotted += len + 1;
        len = strcspn(dotted, ".");
        name = tree_name(h->t, dotted, len);
        path = name ? path_child(h, path, name) : 0;
        if (path != 0) { /* the import machinery makes it one, or fails */
            h->paths[path].is_module = true;
            h->paths[path].is_missing = false;
        }
    }
    return path;
}

uint32_t path_of_alias(struct holds *h, const struct node *alias)
{
    const struct node *from = node_parent(h->t, alias);
    uint32_t path;

    if (from->kind == K_Import)
        return path_module(h, name_text(h->t, alias->name));
    if (from->small > 0 || from->name == 0)
        return 0;
    path = path_module(h, name_text(h->t, from->name));
    return path ? path_child(h, path, alias->name) : 0;
}

/* ---- text ---- */

const char *path_text(const struct holds *h, uint32_t path, char *buf, size_t size)
{
    size_t at = size - 1;
    bool is_cut = false;

    buf[at] = '\0';
    for (uint32_t i = path; i != 0 && !is_cut; i = h->paths[i].parent) {
        const char *text = name_text(h->t, h->paths[i].name);
        size_t len = strlen(text);

        if (h->paths[i].parent == 0 && h->paths[i].is_builtin && i != path)
            break; /* builtins go by their bare names */
        is_cut = len + 4 > at;
        if (is_cut)
            break;
        if (i != path)
            buf[--at] = '.';
        at -= len;
        memcpy(buf + at, text, len);
    }
    return buf + at;
}

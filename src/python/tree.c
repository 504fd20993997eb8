#include "python/tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "python/words.h"

enum {
    SLOTS = 512, /* a power of two, well above KIND_COUNT and FIELD_COUNT */
    TEXT_BLOCK = 8 << 10,
    NODES_MAX = 1 << 23 /* more than the longest program that is read can have */
};

/* ---- the interpreter's classes and field names ---- */

struct slot {
    PyObject *key;
    uint32_t value;
};

static struct slot kinds[SLOTS], fields[SLOTS];
static PyObject *ast_class, *place_names[4]; /* lineno, col_offset, end_lineno, end_col_offset */
static bool is_prepared;
static uint64_t seed[2]; /* of the hash of names */

/* The parser's trees name a node's position after its fields; an interpreter for which that is not
 * so is asked for everything. */
static bool has_places_last;

/* Part of the stable ABI since 3.10, and there before. */
PyObject *PyObject_GenericGetDict(PyObject *object, void *context);

static uint32_t pointer_hash(const void *p)
{
    return (uint32_t)(((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15ull >> 40);
}

static void slot_set(struct slot *slots, PyObject *key, uint32_t value)
{
    uint32_t at = pointer_hash(key) & (SLOTS - 1);

    while (slots[at].key)
        at = (at + 1) & (SLOTS - 1);
    slots[at] = (struct slot){ .key = key, .value = value };
}

static uint32_t slot_get(const struct slot *slots, const PyObject *key)
{
    uint32_t at = pointer_hash(key) & (SLOTS - 1);

    while (slots[at].key && slots[at].key != key)
        at = (at + 1) & (SLOTS - 1);
    return slots[at].key ? slots[at].value : 0;
}

#define AS_TEXT(name) #name,
static const char *const kind_names[] = { "", "", KIND_MAP(AS_TEXT) "", MARK_MAP(AS_TEXT) };
static const char *const field_names[] = { "", FIELD_MAP(AS_TEXT) };

/* An older interpreter lacks some of the classes. */
static int prepare_kinds(PyObject *module)
{
    for (uint32_t i = 0; i < KIND_COUNT; i++) {
        PyObject *type =
            kind_names[i][0] ? PyObject_GetAttrString(module, kind_names[i]) : NULL; /* kept */
        if (type)
            slot_set(kinds, type, i);
        PyErr_Clear();
    }
    ast_class = PyObject_GetAttrString(module, "AST");
    return ast_class ? 0 : -1;
}

/* Is the position behind all fields of a node, and of those in it? A name's `ctx` and a call's
 * `keywords` are the last of theirs. */
static bool are_places_last(void)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *tree =
        builtins ? PyObject_CallMethod(builtins, "compile", "sssi", "f(x)", "", "eval", 0x400)
                 : NULL;
    PyObject *call = tree ? PyObject_GetAttrString(tree, "body") : NULL;
    PyObject *dict = call ? PyObject_GenericGetDict(call, NULL) : NULL, *key, *value;
    Py_ssize_t at = 0;
    uint32_t place = 0, last = 0, n = 0;

    while (dict && PyDict_Next(dict, &at, &key, &value)) {
        uint32_t field = slot_get(fields, key);
        n++;
        if (field == F_lineno)
            place = n;
        else if (field < F_lineno || field > F_end_col_offset)
            last = n;
    }
    Py_XDECREF(dict);
    Py_XDECREF(call);
    Py_XDECREF(tree);
    Py_XDECREF(builtins);
    return place > last;
}

int tree_prepare(void)
{
    PyObject *module;
    int r;

    if (is_prepared)
        return 0;
    words_prepare();
    if (getrandom(seed, sizeof(seed), 0) != sizeof(seed)) {
        PyErr_SetString(PyExc_OSError, "there are no random numbers for the checker's tables");
        return -1;
    }
    seed[1] |= 1;
    module = PyImport_ImportModule("_ast");
    r = module ? prepare_kinds(module) : -1;
    Py_XDECREF(module);
    for (uint32_t i = 1; r == 0 && i < FIELD_COUNT; i++) {
        PyObject *name = PyUnicode_InternFromString(field_names[i]); /* kept */
        if (!name)
            r = -1;
        else
            slot_set(fields, name, i);
        if (i >= F_lineno && i <= F_end_col_offset)
            place_names[i - F_lineno] = name;
    }
    has_places_last = r == 0 && are_places_last();
    is_prepared = r == 0 && !PyErr_Occurred();
    return is_prepared ? 0 : -1;
}

/* ---- names ---- */

int array_grow(void *array, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t wanted = *cap ? *cap : 256;
    void *old, *grown;

    if (need <= *cap)
        return 0;
    while (wanted < need)
        wanted *= 2;
    memcpy(&old, array, sizeof(old));
    grown = realloc(old, wanted * size);
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(array, &grown, sizeof(grown));
    *cap = wanted;
    return 0;
}

struct text_block {
    struct text_block *next;
    size_t n, cap;
    char text[];
};

/* A copy that lives as long as the tree; NULL with a Python exception. */
static const char *text_keep(struct tree *t, const char *text, size_t len)
{
    struct text_block *block = t->text;
    char *copy;

    if (!block || block->cap - block->n < len + 1) {
        size_t cap = len + 1 > TEXT_BLOCK ? len + 1 : TEXT_BLOCK;

        block = malloc(sizeof(*block) + cap);
        if (!block) {
            PyErr_NoMemory();
            return NULL;
        }
        *block = (struct text_block){ .next = t->text, .cap = cap };
        t->text = block;
    }
    copy = block->text + block->n;
    memcpy(copy, text, len);
    copy[len] = '\0';
    block->n += len + 1;
    return copy;
}

/* A program chooses its names: from a seed that it does not know it cannot choose such as meet. One
 * multiplication and fold for every eight bytes. */
static uint32_t text_hash(const char *text, size_t len)
{
    uint64_t hash = seed[0] ^ len;

    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, text + at, len - at < sizeof(word) ? len - at : sizeof(word));
        unsigned __int128 product = (unsigned __int128)(word ^ hash) * seed[1];
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static int rehash_text(struct tree *t)
{
    uint32_t cap = t->by_text_cap ? t->by_text_cap * 2 : 512;
    uint32_t *table = calloc(cap, sizeof(*table));

    if (!table) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 1; i < t->name_n; i++) {
        uint32_t at = text_hash(name_text(t, i), t->names[i].len) & (cap - 1);
        while (table[at])
            at = (at + 1) & (cap - 1);
        table[at] = i;
    }
    free(t->by_text);
    t->by_text = table;
    t->by_text_cap = cap;
    return 0;
}

uint32_t tree_find_name(const struct tree *t, const char *text, size_t len)
{
    uint32_t at, i;

    if (t->by_text_cap == 0)
        return 0;
    at = text_hash(text, len) & (t->by_text_cap - 1);
    for (; (i = t->by_text[at]) != 0; at = (at + 1) & (t->by_text_cap - 1))
        if (t->names[i].len == len && memcmp(name_text(t, i), text, len) == 0)
            return i;
    return 0;
}

uint32_t tree_name(struct tree *t, const char *text, size_t len)
{
    uint32_t at, i;

    if (t->name_n * 2 >= t->by_text_cap && rehash_text(t) < 0)
        return 0;
    at = text_hash(text, len) & (t->by_text_cap - 1);
    for (; (i = t->by_text[at]) != 0; at = (at + 1) & (t->by_text_cap - 1))
        if (t->names[i].len == len && memcmp(name_text(t, i), text, len) == 0)
            return i;
    if (array_grow(&t->names, &t->name_cap, t->name_n + 1, sizeof(*t->names)) < 0)
        return 0;
    text = text_keep(t, text, len);
    if (!text)
        return 0;
    i = t->name_n++;
    t->names[i] = (struct name){ .text = text, .len = (uint32_t)len, .words = words_of(text, len) };
    t->by_text[at] = i;
    return i;
}

static int rehash_objects(struct tree *t)
{
    uint32_t cap = t->by_object_cap ? t->by_object_cap * 2 : 512, old = t->by_object_cap;
    __typeof__(t->by_object) table = calloc(cap, sizeof(*table));

    if (!table) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < old; i++) {
        uint32_t at = pointer_hash(t->by_object[i].key) & (cap - 1);
        if (!t->by_object[i].key)
            continue;
        while (table[at].key)
            at = (at + 1) & (cap - 1);
        table[at] = t->by_object[i];
    }
    free(t->by_object);
    t->by_object = table;
    t->by_object_cap = cap;
    return 0;
}

/* 0 with a Python exception. Identifiers have no lone surrogates, so UTF-8 has them all. */
static uint32_t name_of_object(struct tree *t, PyObject *text)
{
    uint32_t at, name;
    PyObject *bytes;

    if (t->by_object_n * 2 >= t->by_object_cap && rehash_objects(t) < 0)
        return 0;
    at = pointer_hash(text) & (t->by_object_cap - 1);
    for (; t->by_object[at].key; at = (at + 1) & (t->by_object_cap - 1))
        if (t->by_object[at].key == text)
            return t->by_object[at].name;
    bytes = PyUnicode_AsUTF8String(text);
    if (!bytes)
        return 0;
    name = tree_name(t, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    if (name != 0) {
        t->by_object[at].key = text;
        t->by_object[at].name = name;
        t->by_object_n++;
    }
    return name;
}

/* ---- scopes ---- */

static int open_scope(struct tree *t, uint32_t node, enum scope_kind kind)
{
    if (array_grow(&t->scopes, &t->scope_cap, t->scope_n + 1, sizeof(*t->scopes)) < 0)
        return -1;
    t->scopes[t->scope_n] =
        (struct scope){ .kind = kind, .parent = t->nodes[node].scope, .node = node };
    t->nodes[node].own = t->scope_n++;
    return 0;
}

static int scope_for(struct tree *t, uint32_t node)
{
    switch (t->nodes[node].kind) {
    case K_FunctionDef:
    case K_AsyncFunctionDef:
    case K_Lambda:
    case K_TypeAlias:
        return open_scope(t, node, SCOPE_FUNCTION);
    case K_ListComp:
    case K_SetComp:
    case K_DictComp:
    case K_GeneratorExp:
        if (open_scope(t, node, SCOPE_FUNCTION) < 0)
            return -1;
        t->scopes[t->nodes[node].own].is_comprehension = true;
        return 0;
    case K_ClassDef:
        return open_scope(t, node, SCOPE_CLASS);
    default:
        return 0;
    }
}

/* Where the names of a child are looked up. */
static uint32_t child_scope(const struct tree *t, const struct node *parent, enum field role)
{
    uint32_t outer = t->scopes[parent->scope].parent;

    switch (parent->kind) {
    case K_FunctionDef:
    case K_AsyncFunctionDef:
    case K_ClassDef:
    case K_Lambda:
    case K_TypeAlias:
        return role == F_body || role == F_args || role == F_type_params || role == F_value
                   ? parent->own
                   : parent->scope;
    case K_arguments: /* is in the function's scope; its defaults are not */
        return role == F_defaults || role == F_kw_defaults ? outer : parent->scope;
    case K_arg:
        return outer;
    case K_ListComp:
    case K_SetComp:
    case K_DictComp:
    case K_GeneratorExp:
        return parent->own;
    case K_comprehension: /* the first is evaluated outside */
        return role == F_iter && parent->small == 0 ? outer : parent->scope;
    default:
        return parent->scope;
    }
}

/* ---- from Python's nodes to ours ---- */

static enum kind kind_of(PyObject *object)
{
    return (enum kind)slot_get(kinds, (PyObject *)Py_TYPE(object));
}

static int add_node(struct tree *t, const struct node *node)
{
    if (t->n >= NODES_MAX) {
        PyErr_SetString(PyExc_MemoryError, "the program has too many parts to be checked");
        return -1;
    }
    if (t->n == t->cap && array_grow(&t->nodes, &t->cap, t->n + 1, sizeof(*t->nodes)) < 0)
        return -1;
    t->nodes[t->n++] = *node;
    return 0;
}

/* Inside a class, __x is short for _Class__x. Returns the name itself where that is not so, and 0
 * with a Python exception. */
static uint32_t mangled(struct tree *t, uint32_t scope, uint32_t name)
{
    const char *text = name_text(t, name), *class;
    size_t len = t->names[name].len, class_len;
    uint32_t whole;
    char *both;

    if (len < 3 || memcmp(text, "__", 2) != 0 || memcmp(text + len - 2, "__", 2) == 0 ||
        memchr(text, '.', len))
        return name;
    while (scope != 0 && t->scopes[scope].kind != SCOPE_CLASS)
        scope = t->scopes[scope].parent;
    class = scope ? name_text(t, t->nodes[t->scopes[scope].node].name) : "";
    class += strspn(class, "_");
    class_len = strlen(class);
    if (class_len == 0)
        return name;
    both = malloc(class_len + len + 1);
    if (!both) {
        PyErr_NoMemory();
        return 0;
    }
    both[0] = '_';
    memcpy(both + 1, class, class_len);
    memcpy(both + 1 + class_len, text, len);
    whole = tree_name(t, both, class_len + len + 1);
    free(both);
    return whole;
}

static int add_child(struct tree *t, uint32_t parent, enum field role, enum kind kind,
                     PyObject *object)
{
    const struct node *p = &t->nodes[parent];
    struct node child = {
        .py = object, .parent = parent, .kind = (uint8_t)kind, .role = (uint8_t)role
    };

    if (kind == K_comprehension) /* which of the comprehension's loops */
        child.small = p->count > 0 && t->nodes[p->first + p->count - 1].kind == K_comprehension;
    child.scope = child_scope(t, p, role);
    if (kind == KIND_TEXT) {
        child.name = name_of_object(t, object);
        child.name = child.name ? mangled(t, child.scope, child.name) : 0;
        if (child.name == 0)
            return -1;
    }
    t->nodes[parent].count++;
    return add_node(t, &child);
}

static int take_value(struct tree *t, uint32_t i, enum field field, PyObject *value)
{
    enum kind kind = kind_of(value);
    int is_node;

    if (kind > KIND_MARKS) {
        t->nodes[i].mark = (uint8_t)kind;
        return 0;
    }
    if (kind != KIND_UNKNOWN)
        return add_child(t, i, field, kind, value);
    is_node = PyObject_IsInstance(value, ast_class);
    if (is_node == 1)
        return add_child(t, i, field, KIND_UNKNOWN, value);
    return is_node;
}

static int take_list(struct tree *t, uint32_t i, enum field field, PyObject *list)
{
    for (Py_ssize_t at = 0; at < PyList_Size(list); at++) {
        PyObject *item = PyList_GetItem(list, at); /* borrowed */
        int r = 0;

        if (PyUnicode_Check(item))
            r = add_child(t, i, field, KIND_TEXT, item);
        else if (item != Py_None)
            r = take_value(t, i, field, item);
        if (r < 0)
            return -1;
    }
    return 0;
}

static int take_text(struct tree *t, uint32_t i, enum field field, PyObject *text)
{
    uint32_t name;

    if (field == F_type_comment || field == F_kind || field == F_tag || field == F_str)
        return 0;
    name = name_of_object(t, text);
    if (name == 0)
        return -1;
    if (t->nodes[i].kind == K_alias && field == F_name) { /* imported as it is, bound mangled */
        t->nodes[i].name = name;
        field = F_asname;
        if (mangled(t, t->nodes[i].scope, name) == name)
            return 0;
    }
    if (field != F_module)
        name = mangled(t, t->nodes[i].scope, name);
    if (field == F_asname)
        t->nodes[i].as = name;
    else
        t->nodes[i].name = name;
    return name ? 0 : -1;
}

static int take_number(struct tree *t, uint32_t i, enum field field, PyObject *number)
{
    long n;

    if (field != F_level && field != F_simple)
        return 0;
    n = PyLong_AsLong(number);
    t->nodes[i].small = n < 0 || n > 255 ? 255 : (uint8_t)n;
    PyErr_Clear();
    return 0;
}

static int take_field(struct tree *t, uint32_t i, enum field field, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    if (value == Py_None || (t->nodes[i].kind == K_MatchSingleton && field == F_value))
        return 0;
    if (type == &PyList_Type)
        return take_list(t, i, field, value);
    if (type == &PyUnicode_Type)
        return take_text(t, i, field, value);
    if (type == &PyLong_Type)
        return take_number(t, i, field, value);
    return take_value(t, i, field, value);
}

static int expand(struct tree *t, uint32_t i)
{
    PyObject *dict, *key, *value;
    Py_ssize_t at = 0;
    int r = scope_for(t, i);

    if (t->nodes[i].kind == KIND_TEXT)
        return 0;
    t->nodes[i].first = t->n;
    dict = PyObject_GenericGetDict(t->nodes[i].py, NULL);
    if (!dict)
        return -1;
    if (t->nodes[i].kind == K_Constant)
        t->nodes[i].value = Py_None;
    while (r == 0 && PyDict_Next(dict, &at, &key, &value)) {
        enum field field = (enum field)slot_get(fields, key);

        if (field == F_lineno && has_places_last)
            break;
        if (t->nodes[i].kind == K_Constant) {
            if (field == F_value)
                t->nodes[i].value = value;
        } else {
            r = take_field(t, i, field, value);
        }
    }
    Py_DECREF(dict);
    return r;
}

/* Downward before sideways, as the parser made the objects: they lie near each other in memory. */
int64_t tree_add(struct tree *t, PyObject *root)
{
    struct node node = { .py = root, .kind = (uint8_t)kind_of(root), .parent = t->n };
    uint32_t from = t->n, *todo = NULL, left = 1, cap = 0;
    int r = array_grow(&todo, &cap, 1, sizeof(*todo));

    if (r == 0)
        todo[0] = from;
    if (r == 0)
        r = add_node(t, &node);
    while (r == 0 && left > 0) {
        uint32_t i = todo[--left];

        r = expand(t, i);
        if (r == 0)
            r = array_grow(&todo, &cap, left + t->nodes[i].count, sizeof(*todo));
        for (uint32_t c = t->nodes[i].count; r == 0 && c > 0; c--)
            todo[left++] = t->nodes[i].first + c - 1;
    }
    free(todo);
    return r == 0 ? (int64_t)from : -1;
}

int tree_init(struct tree *t)
{
    *t = (struct tree){ .name_n = 1, .scope_n = 1 }; /* name 0 is none, scope 0 the module's */
    if (tree_prepare() < 0 || array_grow(&t->scopes, &t->scope_cap, 1, sizeof(*t->scopes)) < 0 ||
        array_grow(&t->names, &t->name_cap, 1, sizeof(*t->names)) < 0)
        return -1;
    t->scopes[0] = (struct scope){ .kind = SCOPE_MODULE };
    t->names[0] = (struct name){ .text = "" };
    return 0;
}

void tree_done(struct tree *t)
{
    free(t->nodes);
    free(t->scopes);
    free(t->names);
    while (t->text) {
        struct text_block *next = t->text->next;
        free(t->text);
        t->text = next;
    }
    free(t->by_text);
    free(t->by_object);
    *t = (struct tree){ .n = 0 };
}

/* ---- looking ---- */

struct node *tree_child(const struct tree *t, const struct node *parent, enum field role)
{
    for (uint32_t i = parent->first; i < parent->first + parent->count; i++)
        if (t->nodes[i].role == role)
            return &t->nodes[i];
    return NULL;
}

uint32_t tree_count(const struct tree *t, const struct node *parent, enum field role)
{
    uint32_t n = 0;

    for (uint32_t i = parent->first; i < parent->first + parent->count; i++)
        n += t->nodes[i].role == role;
    return n;
}

static long number_of(PyObject *object, PyObject *name)
{
    PyObject *number = PyObject_GetAttr(object, name);
    long n = number ? PyLong_AsLong(number) : 0;

    Py_XDECREF(number);
    PyErr_Clear();
    return n;
}

/* Parts that have no place of their own are where their parent is. */
static struct place place_of(const struct tree *t, const struct node *node, int first)
{
    struct place place = { .line = 1 };

    for (;; node = node_parent(t, node)) {
        long line = node->kind != KIND_TEXT ? number_of(node->py, place_names[first]) : 0;

        if (line > 0) {
            place.line = line;
            place.column = number_of(node->py, place_names[first + 1]);
            return place;
        }
        if (node->parent == node_index(t, node))
            return place;
    }
}

struct place node_place(const struct tree *t, const struct node *node)
{
    return place_of(t, node, 0);
}

struct place node_end(const struct tree *t, const struct node *node)
{
    return place_of(t, node, 2);
}

/* The name is the last thing of an attribute. As it is written: not as it is known inside a
 * class. */
struct place node_attribute_place(const struct tree *t, const struct node *attribute)
{
    struct place begin = node_place(t, attribute), end = node_end(t, attribute);
    PyObject *name = PyObject_GetAttrString(attribute->py, "attr");
    PyObject *bytes = name ? PyUnicode_AsUTF8String(name) : NULL;
    long len = bytes ? (long)PyBytes_Size(bytes) : 0;

    Py_XDECREF(bytes);
    Py_XDECREF(name);
    PyErr_Clear();
    return end.line < begin.line || end.column < len
               ? begin
               : (struct place){ .line = end.line, .column = end.column - len };
}

PyObject *constant_bytes(const struct node *node)
{
    PyObject *bytes = NULL;

    if (node->kind != K_Constant)
        return NULL;
    if (PyUnicode_Check(node->value))
        bytes = PyUnicode_AsEncodedString(node->value, "utf-8", "surrogatepass");
    else if (PyBytes_Check(node->value))
        Py_INCREF(bytes = node->value);
    PyErr_Clear();
    return bytes;
}

/*
 * The scored scan: signs of code that means harm, by what names resolve to. A lint, no boundary.
 *
 * A sign that is critical rejects by itself where patterns block; the others add up, and too many
 * points reject as well. The same name read again adds nothing, except where each place counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "python/checker.h"

enum {
    SCORE_MAX = 15,
    RANGE_MAX = 1000000,
    BYTES_MAX = 100000000,
    FOLD_STEPS = 64,
    SCAN_MAX = 1 << 16 /* bytes of one string that are looked at */
};

#define LOOK "make sure that this is meant"
#define WARN "; if it is meant, and rejected, the operator's option is --patterns warn"

static const struct rule dangerous_builtin = { "pattern-builtin", "runs text as code: {}",
                                               "write the code itself, not a text that is run" WARN,
                                               10, true };
static const struct rule command = { "pattern-command", "starts a program: {}",
                                     "do it in Python, or call a tool that the host gives" WARN, 10,
                                     true };
static const struct rule file_removal = { "pattern-os", "removes files: {}",
                                          "leave files where they are" WARN, 10, true };
static const struct rule environment = { "pattern-environ", "reads the environment: {}",
                                         "take what you need from the program's own input" WARN, 10,
                                         true };
static const struct rule getenv_call = { "pattern-environ", "reads the environment: {}", LOOK, 7,
                                         false };
static const struct rule obfuscation = { "pattern-obfuscation", "unpacks what is hidden: {}", LOOK,
                                         5, false };
static const struct rule computed_attribute = {
    "pattern-computed-attribute", "looks up an attribute of {} by a name that is computed", LOOK, 7,
    false
};
static const struct rule introspection = { "pattern-introspection", "reaches into objects: {}",
                                           LOOK, 3, false };
static const struct rule escape_chain = { "pattern-escape",
                                          "climbs from an object to the interpreter, by {}", LOOK,
                                          10, false };
static const struct rule process_module = { "pattern-process", "process and thread module: {}",
                                            LOOK, 5, false };
static const struct rule network_module = { "pattern-network", "network module: {}", LOOK, 2,
                                            false };
static const struct rule endless_loop = { "pattern-endless-loop",
                                          "a loop that nothing in it can end",
                                          "give the loop an end", 5, false };
static const struct rule large_range = { "pattern-large-range", "a loop of {} rounds", LOOK, 3,
                                         false };
static const struct rule large_memory = { "pattern-large-memory", "makes {} items or bytes at once",
                                          LOOK, 5, false };
static const struct rule rm_command = { "pattern-shell-text",
                                        "a text with a command that removes everything",
                                        "leave the command out of the text" WARN, 10, true };
static const struct rule disk_command = { "pattern-shell-text",
                                          "a text with a command that overwrites disks",
                                          "leave the command out of the text" WARN, 10, true };
static const struct rule traversal = { "pattern-traversal", "a path that climbs far up",
                                       "use paths below the workspace", 5, false };
static const struct rule high_score = {
    "pattern-score", "high risk score: the signs of danger add up to {}, more than 15",
    "write what the warnings name in another way" WARN, 0, false
};

/* ---- what members mean ---- */

static const struct sign {
    const char *root, *members;
    const struct rule *rule;
} signs[] = {
    { "builtins", "exec eval compile __import__", &dangerous_builtin },
    { "os",
      "system popen spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe execl execle "
      "execlp execlpe execv execve execvp execvpe posix_spawn posix_spawnp startfile",
      &command },
    { "posix", "system execv execve posix_spawn posix_spawnp", &command },
    { "subprocess", "run Popen call check_call check_output getoutput getstatusoutput", &command },
    { "asyncio", "create_subprocess_exec create_subprocess_shell", &command },
    { "pty", "spawn fork", &command },
    { "commands", "getoutput getstatusoutput", &command },
    { "os", "remove rmdir unlink removedirs", &file_removal },
    { "shutil", "rmtree", &file_removal },
    { "os", "environ environb", &environment },
    { "os", "getenv getenvb", &getenv_call },
    { "base64",
      "b64decode b32decode b16decode b85decode a85decode urlsafe_b64decode "
      "standard_b64decode decodebytes",
      &obfuscation },
    { "binascii", "unhexlify a2b_hex a2b_base64", &obfuscation },
    { "codecs", "decode", &obfuscation },
};

static const char *const process_modules = "subprocess multiprocessing threading _thread";
static const char *const network_modules = "socket urllib http ftplib smtplib telnetlib requests "
                                           "httpx aiohttp urllib3";
static const char *const risky_modules =
    "os sys subprocess builtins socket importlib shutil ctypes "
    "posix pty";

static const char *root_text(const struct checker *c, uint32_t path)
{
    return name_text(&c->t, c->h.paths[c->h.paths[path].root].name);
}

/* What the operator's own list gives is no sign of danger. */
static bool is_granted(const struct checker *c, uint32_t path)
{
    return c->h.paths[path].depth == 1 && strcmp(root_text(c, path), "os") == 0 &&
           rules_list_has(c->rules.allow_os_attrs, name_text(&c->t, c->h.paths[path].name));
}

static const struct rule *path_sign(const struct checker *c, uint32_t path)
{
    const struct path *p = &c->h.paths[path];
    const char *name = name_text(&c->t, p->name), *root;

    if (p->depth == 2 && p->is_builtin && strcmp(name, "fromhex") == 0 &&
        path_special(&c->h, p->parent) == SPECIAL_MAKE_BYTES)
        return &obfuscation;
    if (p->depth == 0)
        return NULL;
    root = root_text(c, path);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (p->depth == 1 && signs[i].root[0] == root[0] && strcmp(signs[i].root, root) == 0 &&
            list_has(signs[i].members, name))
            return is_granted(c, path) ? NULL : signs[i].rule;
    return NULL;
}

/* ---- state ---- */

struct scan {
    struct checker *c;
    struct {
        const struct rule *sign;
        bool is_seen; /* counted already */
    } * paths;
    uint8_t *seen_name; /* by name: the same for introspection */
    uint8_t *exits;     /* by node: a loop that something in it ends */
    uint32_t escapes;   /* different attributes that introspect */
    bool has_escape;    /* one of which only an escape needs */
    uint32_t last;      /* the node of the last of these */
    bool is_critical;
    int score;
};

static void report(struct scan *s, const struct rule *rule, uint32_t node, enum subject kind,
                   uint64_t subject, bool counts)
{
    bool is_error = rule->is_critical && s->c->rules.patterns == PATTERNS_BLOCK;

    finding_add(&s->c->f, rule, node, kind, subject, is_error);
    s->is_critical |= rule->is_critical;
    if (counts && s->score < 1 << 20)
        s->score += rule->points;
}

/* ---- members, builtins, imports ---- */

static void scan_path(struct scan *s, uint32_t node, uint32_t path)
{
    const struct rule *rule = s->paths[path].sign;

    if (!rule)
        return;
    report(s, rule, node, SUBJECT_PATH, path, rule->is_critical || !s->paths[path].is_seen);
    s->paths[path].is_seen = true;
}

/* Where a dotted name is formed, or a builtin read; not where the value is passed on by a name. */
static void scan_load(struct scan *s, uint32_t i)
{
    const struct node *node = &s->c->t.nodes[i];
    uint32_t at = 0, value;

    while (hold_next(&s->c->h, i, &at, &value)) {
        if (hold_kind(value) != HOLD_PATH)
            continue;
        if (node->kind == K_Name &&
            (!node->is_free || s->c->h.paths[hold_what(value)].name != node->name))
            continue;
        scan_path(s, i, hold_what(value));
    }
}

static void scan_module(struct scan *s, uint32_t node, uint32_t path)
{
    const char *root = root_text(s->c, path);
    const struct rule *rule = NULL;

    if (list_has(process_modules, root))
        rule = &process_module;
    else if (list_has(network_modules, root))
        rule = &network_module;
    if (!rule)
        return;
    /* These read and write addresses, and open no connection. */
    for (uint32_t p = path; p != 0; p = s->c->h.paths[p].parent)
        if (path_special(&s->c->h, p) == SPECIAL_URL_TEXT)
            return;
    report(s, rule, node, SUBJECT_PATH, path, !s->paths[path].is_seen);
    s->paths[path].is_seen = true;
}

static void scan_alias(struct scan *s, uint32_t i)
{
    const struct node *alias = &s->c->t.nodes[i], *from = node_parent(&s->c->t, alias);
    uint32_t path;

    if (name_text(&s->c->t, alias->name)[0] == '*' && from->name && from->small == 0) {
        path = path_module(&s->c->h, name_text(&s->c->t, from->name));
        if (path != 0 && path < s->c->path_n)
            scan_module(s, alias->parent, path);
        return;
    }
    path = path_of_alias(&s->c->h, alias);
    if (path == 0 || path >= s->c->path_n)
        return;
    if (from->kind == K_ImportFrom) {
        scan_path(s, i, path);
        if (path_special(&s->c->h, path) != SPECIAL_URL_TEXT)
            path = s->c->h.paths[path].parent;
        i = alias->parent;
    }
    scan_module(s, i, path);
}

/* getattr(os, "sys" + "tem"): what can be added up was resolved; what cannot is told. */
static void scan_call(struct scan *s, uint32_t i)
{
    const struct node *call = &s->c->t.nodes[i];
    uint32_t callee = hold_path(&s->c->h, call->first), base;

    if (path_special(&s->c->h, callee) != SPECIAL_GETATTR || tree_count(&s->c->t, call, F_args) < 2)
        return;
    base = hold_path(&s->c->h, call->first + 1);
    if (!base || s->c->h.paths[base].depth > 0)
        return;
    if (hold_path(&s->c->h, i))
        scan_load(s, i);
    else if (list_has(risky_modules, root_text(s->c, base)))
        report(s, &computed_attribute, i, SUBJECT_PATH, base, true);
}

static void scan_attribute(struct scan *s, uint32_t i)
{
    uint32_t name = s->c->t.nodes[i].name;

    scan_load(s, i);
    if (!(words(s->c, name) & WORD_INTROSPECT))
        return;
    report(s, &introspection, i, SUBJECT_NAME, name, !s->seen_name[name]);
    s->escapes += !s->seen_name[name];
    s->has_escape |= words(s->c, name) & WORD_ESCAPE;
    s->seen_name[name] = 1;
    if (words(s->c, name) & WORD_ESCAPE)
        s->last = i;
}

/* ---- loops ---- */

static bool is_loop(const struct node *node)
{
    return node->kind == K_While || node->kind == K_For || node->kind == K_AsyncFor;
}

/* Mark the loop that a break leaves, or all that a return or a yield does. Marked ones end the way
 * up: what is above them is marked already, or was left by a break. */
static void mark_exit(const struct scan *s, uint32_t i)
{
    const struct tree *t = &s->c->t;
    bool is_break = t->nodes[i].kind == K_Break;
    uint8_t mark = is_break ? 1 : 2;

    for (uint32_t at = i; t->nodes[at].parent != at; at = t->nodes[at].parent) {
        const struct node *parent = node_parent(t, &t->nodes[at]);
        uint32_t up = t->nodes[at].parent;

        if (parent->own && parent->kind != K_ListComp)
            return;
        if (!is_loop(parent) || t->nodes[at].role != F_body)
            continue;
        if (s->exits[up] & mark)
            return;
        s->exits[up] |= mark;
        if (is_break)
            return;
    }
}

/* ---- numbers ---- */

/* What two numbers come to; false when that cannot be told, or is beyond 63 bits. */
static bool fold_one(int op, int64_t a, int64_t b, int64_t *ret)
{
    switch (op) {
    case K_Add:
        return !__builtin_add_overflow(a, b, ret);
    case K_Sub:
        return !__builtin_sub_overflow(a, b, ret);
    case K_Mult:
        return !__builtin_mul_overflow(a, b, ret);
    case K_LShift:
        *ret = b >= 0 && b < 62 ? (int64_t)((uint64_t)a << b) : 0;
        return a > 0 && b >= 0 && b < 62 && *ret >> b == a;
    case K_Pow:
        *ret = 1;
        for (int64_t n = b; n > 0; n--)
            if (n > 64 || __builtin_mul_overflow(*ret, a, ret))
                return false;
        return b >= 0;
    case K_FloorDiv:
        *ret = b > 0 && a >= 0 ? a / b : 0;
        return b > 0 && a >= 0;
    default:
        return false;
    }
}

static bool constant_number(const struct node *node, int64_t *ret)
{
    int overflow = 0;

    if (node->kind != K_Constant)
        return false;
    if (PyFloat_Check(node->value)) {
        double d = PyFloat_AsDouble(node->value);
        *ret = d > -9e15 && d < 9e15 ? (int64_t)d : INT64_MAX;
        return true;
    }
    if (!PyLong_Check(node->value))
        return false;
    *ret = PyLong_AsLongLongAndOverflow(node->value, &overflow);
    PyErr_Clear();
    if (overflow)
        *ret = overflow > 0 ? INT64_MAX : INT64_MIN;
    return true;
}

/* A literal, a negative one, or two with an operator between. */
static bool fold_small(const struct checker *c, const struct node *node, int64_t *ret)
{
    int64_t a, b;

    if (constant_number(node, ret))
        return true;
    if (node->kind == K_UnaryOp && node->mark == K_USub && node->count == 1)
        return constant_number(&c->t.nodes[node->first], &a) && fold_one(K_Sub, 0, a, ret);
    return node->kind == K_BinOp && node->count == 2 &&
           constant_number(&c->t.nodes[node->first], &a) &&
           constant_number(&c->t.nodes[node->first + 1], &b) && fold_one(node->mark, a, b, ret);
}

/* a * b * c leans to the left: walk down that side, then fold on the way back. */
static bool fold_number(const struct checker *c, uint32_t node, int64_t *ret)
{
    const struct node *n = &c->t.nodes[node];
    uint32_t chain[FOLD_STEPS], depth = 0;
    int64_t left, right;

    for (; n->kind == K_BinOp && n->count == 2 && depth < FOLD_STEPS; n = &c->t.nodes[n->first])
        chain[depth++] = node_index(&c->t, n);
    if (!fold_small(c, n, &left))
        return false;
    while (depth-- > 0) {
        const struct node *op = &c->t.nodes[chain[depth]];

        if (!fold_small(c, &c->t.nodes[op->first + 1], &right) ||
            !fold_one(op->mark, left, right, &left))
            return false;
    }
    *ret = left;
    return true;
}

static void scan_range(struct scan *s, uint32_t iter)
{
    const struct checker *c = s->c;
    const struct node *call = &c->t.nodes[iter];
    int64_t arg[3] = { 0, 0, 1 }, first, rounds;
    uint32_t args, path;

    if (call->kind != K_Call)
        return;
    path = hold_path(&c->h, call->first);
    args = tree_count(&c->t, call, F_args);
    if (path_special(&c->h, path) != SPECIAL_RANGE || args < 1 || args > 3 ||
        !fold_number(c, call->first + 1, &first))
        return;
    if (args == 1)
        arg[1] = first;
    else
        arg[0] = first;
    for (uint32_t i = 1; i < args; i++)
        if (!fold_number(c, call->first + 1 + i, &arg[i]))
            return;
    if (arg[2] == 0 || arg[2] == INT64_MIN || __builtin_sub_overflow(arg[1], arg[0], &rounds))
        return;
    rounds /= arg[2];
    if (rounds > RANGE_MAX)
        report(s, &large_range, iter, SUBJECT_NUMBER, (uint64_t)rounds, true);
}

/* How much one copy of a literal is. */
static int64_t literal_size(const struct node *node)
{
    if (node->kind == K_List || node->kind == K_Tuple)
        return node->count;
    if (node->kind == K_Constant && PyUnicode_Check(node->value))
        return PyUnicode_GetLength(node->value);
    if (node->kind == K_Constant && PyBytes_Check(node->value))
        return PyBytes_Size(node->value);
    return 0;
}

static void scan_product(struct scan *s, uint32_t i)
{
    const struct tree *t = &s->c->t;
    const struct node *node = &t->nodes[i];

    if (node->mark != K_Mult || node->count != 2)
        return;
    for (uint32_t side = 0; side < 2; side++) {
        int64_t size = literal_size(&t->nodes[node->first + side]), times, all;

        if (size == 0 || !fold_number(s->c, node->first + 1 - side, &times) || times <= 0)
            continue;
        if (__builtin_mul_overflow(size, times, &all))
            all = INT64_MAX;
        if (all > BYTES_MAX)
            report(s, &large_memory, i, SUBJECT_NUMBER, (uint64_t)all, true);
    }
}

/* A condition that is a constant and true. */
static bool is_always_true(const struct checker *c, uint32_t test)
{
    const struct node *node = &c->t.nodes[test];
    bool is_negated = false;

    for (int i = 0; i < FOLD_STEPS && node->kind == K_UnaryOp && node->mark == K_Not; i++) {
        is_negated = !is_negated;
        node = &c->t.nodes[node->first];
    }
    if (node->kind != K_Constant)
        return false;
    return (PyObject_IsTrue(node->value) == 1) != is_negated;
}

/* ---- texts ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* After "rm": blanks, flags with both r and f, blanks, then / or ~. */
static bool is_removal(const char *at)
{
    bool has_r = false, has_f = false;

    if (*at != ' ' && *at != '\t')
        return false;
    for (at = skip_blanks(at); *at == '-'; at = skip_blanks(at)) {
        for (at++; *at && *at != ' ' && *at != '\t'; at++) {
            has_r |= *at == 'r';
            has_f |= *at == 'f';
        }
    }
    return has_r && has_f && (*at == '/' || *at == '~');
}

/* A command followed by these words, with any blanks between. */
static bool has_words(const char *at, const char *const *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *next = skip_blanks(at);

        if (next == at || strncmp(next, wanted[i], strlen(wanted[i])) != 0)
            return false;
        at = next + strlen(wanted[i]);
    }
    return true;
}

static bool is_word_start(const char *text, const char *at)
{
    return at == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[-1]);
}

static const struct rule *text_sign(const char *text)
{
    static const char *const del[] = { "/f", "/s", "/q" };
    static const char *const rmdir[] = { "/s", "/q" };
    static const char *const dd[] = { "if=/dev" };

    for (const char *at = text; *at; at++) {
        if (*at == '.' && (strncmp(at, "../../../", 9) == 0 || strncmp(at, "..\\..\\..\\", 9) == 0))
            return &traversal;
        if (!strchr("rdm", *at) || !is_word_start(text, at))
            continue;
        if (strncmp(at, "rm", 2) == 0 && is_removal(at + 2))
            return &rm_command;
        if (strncmp(at, "del", 3) == 0 && has_words(at + 3, del, 3))
            return &rm_command;
        if (strncmp(at, "rmdir", 5) == 0 && has_words(at + 5, rmdir, 2))
            return &rm_command;
        if ((strncmp(at, "dd", 2) == 0 && has_words(at + 2, dd, 1)) || strncmp(at, "mkfs.", 5) == 0)
            return &disk_command;
    }
    return NULL;
}

static void scan_text(struct scan *s, uint32_t i)
{
    const struct node *node = &s->c->t.nodes[i];
    bool is_text = PyUnicode_Check(node->value);
    char small[512], *lower = small;
    PyObject *bytes;
    size_t len;

    if ((!is_text && !PyBytes_Check(node->value)) ||
        (is_text ? PyUnicode_GetLength(node->value) : PyBytes_Size(node->value)) < 5)
        return;
    bytes = constant_bytes(node);
    len = bytes ? (size_t)PyBytes_Size(bytes) : 0;
    len = len < SCAN_MAX ? len : SCAN_MAX;
    if (len >= sizeof(small))
        lower = malloc(len + 1);
    if (lower && bytes) {
        const char *from = PyBytes_AsString(bytes);
        for (size_t at = 0; at < len; at++) {
            unsigned char ch = (unsigned char)from[at];
            lower[at] = (char)(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch ? ch : ' ');
        }
        lower[len] = '\0';
        const struct rule *rule = text_sign(lower);
        if (rule)
            report(s, rule, i, SUBJECT_NAME, 0, true);
    }
    if (lower != small)
        free(lower);
    Py_XDECREF(bytes);
}

/* ---- all of it ---- */

static void scan_node(struct scan *s, uint32_t i)
{
    const struct node *node = &s->c->t.nodes[i];

    switch (node->kind) {
    case K_Name:
        if (node_is_read(&s->c->t, node))
            scan_load(s, i);
        break;
    case K_Attribute:
        scan_attribute(s, i);
        break;
    case K_alias:
        scan_alias(s, i);
        break;
    case K_Call:
        scan_call(s, i);
        break;
    case K_Constant:
        scan_text(s, i);
        break;
    case K_BinOp:
        scan_product(s, i);
        break;
    case K_For:
    case K_AsyncFor:
    case K_comprehension:
        scan_range(s, node_index(&s->c->t, tree_child(&s->c->t, node, F_iter)));
        break;
    case K_Break:
    case K_Return:
    case K_Raise:
    case K_Yield:
    case K_YieldFrom:
    case K_Await:
        mark_exit(s, i);
        break;
    default:
        break;
    }
}

static void scan_all(struct scan *s)
{
    struct checker *c = s->c;

    for (uint32_t i = 1; i < c->path_n; i++)
        s->paths[i].sign = path_sign(c, i);
    for (uint32_t i = c->t.own_from; i < c->t.n; i++)
        scan_node(s, i);
    for (uint32_t i = c->t.own_from; i < c->t.n; i++) {
        const struct node *node = &c->t.nodes[i];
        if (node->kind == K_While && s->exits[i] == 0 && is_always_true(c, node->first))
            report(s, &endless_loop, i, SUBJECT_NAME, 0, true);
    }
    if (s->escapes >= 3 && s->has_escape)
        report(s, &escape_chain, s->last, SUBJECT_NAME, c->t.nodes[s->last].name, true);
    c->risk = s->score;
    if (s->score > SCORE_MAX && !s->is_critical && c->rules.patterns == PATTERNS_BLOCK)
        finding_add(&c->f, &high_score, c->t.own_from, SUBJECT_NUMBER, (uint64_t)s->score, true);
}

void check_patterns(struct checker *c)
{
    struct scan s = { .c = c };

    s.paths = calloc(c->path_n + 1, sizeof(*s.paths));
    s.seen_name = calloc(c->t.name_n + 1, 1);
    s.exits = calloc(c->t.n + 1, 1);
    if (s.paths && s.seen_name && s.exits) {
        scan_all(&s);
    } else {
        PyErr_NoMemory();
        c->f.is_broken = true;
    }
    free(s.paths);
    free(s.seen_name);
    free(s.exits);
}

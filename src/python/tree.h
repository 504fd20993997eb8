#pragma once
/*
 * CPython's own syntax tree as an array of plain C nodes.
 *
 * A parent lies before its children, and the children of one node lie side by side. So every pass
 * of the checker is a loop over an array, upward or downward, and no depth of nesting can exhaust
 * the stack.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* What the checker knows of the grammar, in lists that the formatter finds no end with. What is not
 * here is KIND_UNKNOWN. */
/* clang-format off */
#define KIND_MAP(X)                                                                               \
    X(Module) X(Expression) X(FunctionDef) X(AsyncFunctionDef) X(ClassDef) X(Return) X(Delete)    \
    X(Assign) X(AugAssign) X(AnnAssign) X(TypeAlias) X(For) X(AsyncFor) X(While) X(If) X(With)    \
    X(AsyncWith) X(Match) X(Raise) X(Try) X(TryStar) X(Assert) X(Import) X(ImportFrom) X(Global)  \
    X(Nonlocal) X(Expr) X(Pass) X(Break) X(Continue) X(BoolOp) X(NamedExpr) X(BinOp) X(UnaryOp)   \
    X(Lambda) X(IfExp) X(Dict) X(Set) X(ListComp) X(SetComp) X(DictComp) X(GeneratorExp)          \
    X(Await) X(Yield) X(YieldFrom) X(Compare) X(Call) X(FormattedValue) X(JoinedStr)              \
    X(TemplateStr) X(Interpolation) X(Constant) X(Attribute) X(Subscript) X(Starred) X(Name)      \
    X(List) X(Tuple) X(Slice) X(comprehension) X(ExceptHandler) X(arguments) X(arg) X(keyword)    \
    X(alias) X(withitem) X(match_case) X(MatchValue) X(MatchSingleton) X(MatchSequence)           \
    X(MatchMapping) X(MatchClass) X(MatchStar) X(MatchAs) X(MatchOr) X(TypeIgnore) X(TypeVar)     \
    X(ParamSpec) X(TypeVarTuple)

/* Kinds that are marks on their parent, not nodes. */
#define MARK_MAP(X)                                                                               \
    X(Load) X(Store) X(Del) X(And) X(Or) X(Add) X(Sub) X(Mult) X(MatMult) X(Div) X(Mod) X(Pow)    \
    X(LShift) X(RShift) X(BitOr) X(BitXor) X(BitAnd) X(FloorDiv) X(Invert) X(Not) X(UAdd)         \
    X(USub) X(Eq) X(NotEq) X(Lt) X(LtE) X(Gt) X(GtE) X(Is) X(IsNot) X(In) X(NotIn)

#define FIELD_MAP(X)                                                                              \
    X(body) X(orelse) X(finalbody) X(handlers) X(test) X(value) X(target) X(targets) X(iter)      \
    X(ifs) X(generators) X(elt) X(key) X(keys) X(values) X(left) X(right) X(operand)              \
    X(comparators) X(func) X(args) X(keywords) X(arg) X(annotation) X(returns) X(decorator_list)  \
    X(bases) X(name) X(names) X(asname) X(module) X(level) X(items) X(context_expr)               \
    X(optional_vars) X(type) X(exc) X(cause) X(msg) X(lower) X(upper) X(step) X(slice) X(elts)    \
    X(ctx) X(op) X(ops) X(attr) X(id) X(defaults) X(kw_defaults) X(posonlyargs) X(kwonlyargs)     \
    X(vararg) X(kwarg) X(subject) X(cases) X(pattern) X(guard) X(patterns) X(cls) X(kwd_attrs)    \
    X(kwd_patterns) X(rest) X(type_params) X(bound) X(default_value) X(conversion)                \
    X(format_spec) X(is_async) X(simple) X(type_ignores) X(type_comment) X(kind) X(lineno)        \
    X(col_offset) X(end_lineno) X(end_col_offset) X(tag) X(str)
/* clang-format on */

#define KIND_ENUM(name)  K_##name,
#define FIELD_ENUM(name) F_##name,
enum kind {
    KIND_UNKNOWN,
    KIND_TEXT, /* a bare name in a list: of `global`, of a class pattern's attributes */
    KIND_MAP(KIND_ENUM) KIND_MARKS,
    MARK_MAP(KIND_ENUM) KIND_COUNT
};
enum field {
    F_UNKNOWN,
    FIELD_MAP(FIELD_ENUM) FIELD_COUNT
};

struct node {
    PyObject *py;     /* borrowed from the tree */
    PyObject *value;  /* borrowed: a constant's */
    uint32_t parent;  /* its own index for a root */
    uint32_t first;   /* of the children */
    uint32_t count;   /* of the children */
    uint32_t name;    /* identifier, attribute, argument, module; 0 when there is none */
    uint32_t as;      /* the second name: of `import name as as` */
    uint32_t scope;   /* where its names are looked up */
    uint32_t own;     /* the scope that it opens, else 0 */
    uint32_t binding; /* of a name: what it resolves to, plus one; see scope.h */
    uint32_t outer;   /* of a name in a class body: what it means when the class has none */
    uint8_t kind;
    uint8_t role;  /* the field of the parent that holds it */
    uint8_t mark;  /* K_Load, K_Store, K_Del; an operator */
    uint8_t small; /* relative import's level, AnnAssign's simple */
    bool is_free;  /* of a name: may be what nobody here binds; if `binding` is set, see scope.h */
};

enum scope_kind {
    SCOPE_MODULE,
    SCOPE_FUNCTION, /* also lambdas and comprehensions: a name in it is never a builtin */
    SCOPE_CLASS
};

struct scope {
    enum scope_kind kind;
    bool is_comprehension;
    uint32_t parent;
    uint32_t node;
};

/* One identifier. Its text lies in a block of the tree's, which never moves. */
struct name {
    const char *text;
    uint32_t len;
    uint32_t words; /* enum word of words.h */
};

struct text_block;

struct tree {
    struct node *nodes;
    uint32_t n, cap;
    uint32_t own_from; /* the first node of the program; those before are the prelude's */
    struct scope *scopes;
    uint32_t scope_n, scope_cap;
    struct name *names;
    uint32_t name_n, name_cap;
    struct text_block *text;
    uint32_t *by_text; /* hash of names */
    uint32_t by_text_cap;
    struct {
        PyObject *key;
        uint32_t name;
    } * by_object; /* CPython interns identifiers: mostly the pointer is enough */
    uint32_t by_object_cap, by_object_n;
};

/* Find the classes of the interpreter's trees. Once a process; returns 0, or -1 with a Python
 * exception. */
int tree_prepare(void);

/* An empty tree: scope 0 is the module's. Returns 0, or -1 with a Python exception. */
int tree_init(struct tree *t);
void tree_done(struct tree *t);

/* Append a whole tree of Python's, whose objects must outlive this. Returns the index of its root,
 * or -1 with a Python exception. */
int64_t tree_add(struct tree *t, PyObject *root);

/* Make room for `need` items of `size` bytes in the array that `array` points to. Returns 0, or -1
 * with a Python exception. */
int array_grow(void *array, uint32_t *cap, uint32_t need, size_t size);

/* The number of an identifier; 0 with a Python exception when memory ran out. */
uint32_t tree_name(struct tree *t, const char *text, size_t len);

/* The same, 0 when it occurs nowhere in the tree. */
uint32_t tree_find_name(const struct tree *t, const char *text, size_t len);

static inline const char *name_text(const struct tree *t, uint32_t name)
{
    return t->names[name].text;
}

/* The first child in this role; NULL when there is none. */
struct node *tree_child(const struct tree *t, const struct node *parent, enum field role);

static inline struct node *node_parent(const struct tree *t, const struct node *node)
{
    return &t->nodes[node->parent];
}

/* Is this name read? The target of `x += y` is, though it is marked as stored. */
static inline bool node_is_read(const struct tree *t, const struct node *name)
{
    return name->mark == K_Load || (name->role == F_target && name->mark == K_Store &&
                                    node_parent(t, name)->kind == K_AugAssign);
}

static inline uint32_t node_index(const struct tree *t, const struct node *node)
{
    return (uint32_t)(node - t->nodes);
}

/* Where a node begins, or ends; the column in bytes, from 0. Asked of the interpreter, since few
 * nodes are ever asked for it. */
struct place {
    long line, column;
};
struct place node_place(const struct tree *t, const struct node *node);
struct place node_end(const struct tree *t, const struct node *node);
/* Where the name of an attribute begins. */
struct place node_attribute_place(const struct tree *t, const struct node *attribute);

/* How many children are in this role. */
uint32_t tree_count(const struct tree *t, const struct node *parent, enum field role);

/* A string constant's text in UTF-8 (lone surrogates as such), or a bytes constant's bytes: a new
 * bytes object; NULL, without an exception, for anything else. */
PyObject *constant_bytes(const struct node *node);

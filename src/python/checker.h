#pragma once
/* The state of one check, shared by the files that apply rules. */
#include "python/finding.h"
#include "python/rules.h"
#include "python/words.h"

enum own {
    OWN_SET = 1u << 0,    /* the program gives some object such an attribute */
    OWN_CHANGED = 1u << 1 /* other than in a class body; or takes it away */
};

struct checker {
    struct tree t;
    struct scopes s;
    struct holds h;
    struct rules rules;
    struct findings f;
    struct judged {
        const struct rule *refusal; /* NULL when it may be used */
    } * judged;                     /* by path */
    uint32_t path_n;                /* of those */
    uint8_t *own;                   /* by name: enum own */
    uint8_t
        *loose; /* by name: it may be read from a class rather than an object; see attributes.c */
    uint32_t own_n;      /* of both */
    uint32_t class_name; /* "__class__", 0 when it does not occur */
    bool has_asyncio, has_pathlib, has_typing, has_dataclasses; /* objects of theirs may be about */
    bool has_dispatch, has_get_args, has_environ;
    bool makes_classes; /* other than by class statements, for all that can be told */
    bool has_fields;    /* it may write to the fields of a dataclass */
    bool lists_fields;  /* it asks for the fields of a dataclass */
    bool is_unsure;     /* it reads attributes of modules that are not loaded here */
    int risk;
};

static inline uint32_t words(const struct checker *c, uint32_t name)
{
    return c->t.names[name].words;
}

/* ---- members.c ---- */

/* Judge every path once. Returns 0, or -1 with a Python exception. */
int members_judge(struct checker *c);
/* May this name of an import statement be imported? Reports what is wrong with it. */
void check_alias(struct checker *c, uint32_t i);

/* ---- attributes.c ---- */

/* Why an attribute of an object that is not known may not be read (or set); NULL when it may. */
const struct rule *attribute_refusal(const struct checker *c, uint32_t name, bool is_store);
/* Templates of str.format: report attributes that would not be allowed as code. */
void check_format(struct checker *c, uint32_t attribute);
void check_attribute(struct checker *c, uint32_t attribute);

/* ---- classes.c ---- */

/* Nothing else than what it is known to hold can be bound to it. */
bool is_sure(const struct checker *c, const struct node *node);
/* The class statement that a value stands for, and what instances of it are, are as written. */
bool is_plain_object(const struct checker *c, uint32_t expression);
/* Is it known which class this is, and that its making was not interfered with? */
bool class_is_plain(const struct checker *c, uint32_t expression);
void check_class_pattern(struct checker *c, uint32_t pattern);
void check_register(struct checker *c, uint32_t attribute);
/* Is this use of dataclass() one that decorates a plain class? */
bool decorates_plain_class(const struct checker *c, uint32_t load);
void check_match_args(struct checker *c, uint32_t name);

/* ---- making.c ---- */

/* May the program make classes other than by plain class statements? */
bool makes_classes(const struct checker *c);
/* Does the program itself define this in a class? */
bool defines(const struct checker *c, const char *text);
/* May an object of the program's say what its attributes are? */
bool answers_for_itself(const struct checker *c);
/* May it say what a copy of it is, and what is set on that? */
bool steers_copies(const struct checker *c);
/* `type`, where it is read; x.__class__ likewise. */
void check_type(struct checker *c, uint32_t i, uint32_t path);
void check_class_attribute(struct checker *c, uint32_t i);
/* Is this a call of one of these builtins, and of nothing else? */
bool is_builtin_call(const struct checker *c, const struct node *call, const char *names);
/* The method of a class statement whose parameter at this index the name is; NULL when it is
 * not. */
const struct node *method_of_parameter(const struct checker *c, const struct node *name,
                                       uint32_t index);

/* ---- strict.c ---- */

void check_strict(struct checker *c);
/* What the operator's lists say, when the policy is not strict. */
void check_lists(struct checker *c);

/* ---- patterns.c ---- */

/* Score the program; sets c->risk. */
void check_patterns(struct checker *c);

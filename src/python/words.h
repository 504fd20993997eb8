#pragma once
/* Identifiers that mean something to the checker, each looked up once a check. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word {
    WORD_DUNDER = 1u << 0,        /* __x__ */
    WORD_PRIVATE = 1u << 1,       /* _x, but not __x__ */
    WORD_DUNDER_READ = 1u << 2,   /* may be read as an attribute */
    WORD_DUNDER_WRITE = 1u << 3,  /* may be set as an attribute */
    WORD_DUNDER_DEFINE = 1u << 4, /* may be defined in a class body */
    WORD_DUNDER_NAME = 1u << 5,   /* may be used as a plain name */
    WORD_INTERNAL = 1u << 6,      /* frames, code objects, tracebacks, the order of classes */
    WORD_LOOP = 1u << 7,          /* of an event loop: starts processes or opens sockets */
    WORD_MODULE = 1u << 8,        /* the name of a module that gives capabilities */
    WORD_LEXICAL = 1u << 9,       /* of os.path: looks at the text only */
    WORD_SUNDER = 1u << 10,       /* of named tuples and enumerations: underscored and public */
    WORD_IMPLICIT = 1u << 11,     /* builtins that are language rather than library */
    WORD_READER = 1u << 12,       /* of a mapping: looks at it, and hands out no more */
    WORD_INTROSPECT = 1u << 13,   /* scored by the pattern scan */
    WORD_ESCAPE = 1u << 14,       /* of these, what only an escape needs */
    WORD_ATTRIBUTE_FN = 1u << 15, /* builtins that take an attribute's name */
    WORD_MODULE_READ = 1u << 16,  /* underscored and public in modules */
    WORD_KEY = 1u << 17,          /* a key that only an escape looks up */
    WORD_ROAD_PATHLIB = 1u << 19, /* leads from an object of pathlib's to a module */
    WORD_ROAD_ASYNCIO = 1u << 21, /* leads from one of asyncio's to sockets and processes */
    WORD_ROAD_TYPING = 1u << 22,  /* evaluates text, of an object of typing's */
    WORD_ROAD_ERROR = 1u << 23,   /* leads from an exception to the module that lacks a name */
    WORD_ROAD_FIELD = 1u << 24,   /* of the fields of dataclasses */
    WORD_ROAD_VIEW = 1u << 25,    /* leads from a view to its mapping */
    WORD_TOLD = 1u << 20,         /* an attribute that has a rule of its own */
    WORD_STANDARD = 1u << 18,     /* a module of the standard library */
};

/* All that lead from an object of the library's to more. */
#define WORDS_ROAD                                                                \
    (WORD_ROAD_PATHLIB | WORD_ROAD_ASYNCIO | WORD_ROAD_TYPING | WORD_ROAD_ERROR | \
     WORD_ROAD_FIELD | WORD_ROAD_VIEW)

/* Once a process. */
void words_prepare(void);

/* What is known of an identifier. */
uint32_t words_of(const char *text, size_t len);

/* Is the word in a list that blanks separate? */
bool list_has(const char *list, const char *word);

#pragma once
/*
 * The head of a request, read as RFC 9112 writes it and no other way. What a proxy in front could
 * read in a second way is refused: that is how requests are smuggled. This is the only place where
 * the bytes of a head are looked at.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEAD_BYTES_MAX = 32 << 10,
    HEAD_TARGET_MAX = 8 << 10,
    HEAD_FIELDS_MAX = 100
};

struct head_field {
    const char *name, *value;
};

struct head {
    char *text; /* all that follows lies in it */
    const char *method;
    const char *path; /* without its query */
    const char *host; /* that the target names; NULL: it is a path */
    bool is_http_1_0;
    bool is_chunked;
    bool is_kept; /* its connection may have another request after it */
    bool wants_go_ahead;
    uint64_t length; /* of its body, unless it is chunked */
    struct head_field fields[HEAD_FIELDS_MAX];
    size_t n_fields;
};

/* What is wrong with a head, and how that is answered. */
struct head_problem {
    int status;
    const char *message;
};

/*
 * Where the head ends that `text` begins with: how long it is, with its empty line; 0: it has not
 * ended; -1: no head can begin so. *scanned is how much of it was looked at before.
 */
int head_find_end(const char *text, size_t len, size_t *scanned);

/* Read one that ends where `len` says. NULL: it is good. */
const struct head_problem *head_parse(struct head *h, const char *text, size_t len);

void head_done(struct head *h);

/* The value of the first field with this name, in any case; NULL: there is none. */
const char *head_get(const struct head *h, const char *name);

/* Is it the line of a field, "NAME: VALUE"? The fields behind a chunked body are looked at by this
 * and not used. */
bool head_is_field(const char *line, size_t len);

/* One or more characters of a name. */
bool head_is_token(const char *text, size_t len);

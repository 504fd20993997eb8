#pragma once
/* Who may ask: what is looked at in a request's head before anything acts on it. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum guard_host {
    GUARD_LOOPBACK = 1u << 0,  /* "localhost" and its addresses are ours */
    GUARD_ADDRESSES = 1u << 1, /* any address is: a name that was bent to us is not one */
    GUARD_ANY = 1u << 2        /* nobody can be led here: a Unix socket */
};

/* Is "NAME[:PORT]" one of ours? */
bool guard_host(const char *host, unsigned ours, const json_t *names);

/* May a page from there ask? "SCHEME://NAME[:PORT]". */
bool guard_origin(const char *origin, const json_t *allowed);

/* Is it "Bearer TOKEN"? Takes the same time wherever it differs. */
bool guard_token(const char *authorization, const char *token);

/* Does "type/subtype; parameters" name this type? */
bool guard_type(const char *value, const char *type);

/* Is the type in the list of an Accept header? With `is_strict` only by its name. */
bool guard_accepts(const char *accept, const char *type, bool is_strict);

#pragma once
/*
 * The reviewer: a model, behind an OpenAI-compatible chat endpoint, that reads the code before it
 * runs and may object. It is advice and not a boundary: see docs/review.md.
 */
#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

struct event_base;
struct fetch_client;
struct fetch_ops;
struct review;

/* What one review leaves for the next: open connections, and the system's certificates, which
 * take tens of milliseconds to read. Starts as { 0 }. */
struct review_link {
    const struct fetch_ops *ops;
    struct fetch_client *client;
};

/* When no review uses it any more, and before the loop is freed. */
void review_link_done(struct review_link *link);

struct review_spec {
    const char *url;        /* of the API ("https://host/v1"), or of its /chat/completions */
    const char *model;      /* NULL: the server's own choice */
    const char *key;        /* sent as a bearer token; NULL or "": none */
    const char *ca;         /* a file of certificates to trust instead of the system's, or NULL */
    const char *module_dir; /* where glovebox-fetch.so is: where the interpreter extension is */
    struct event_base *base;
    struct review_link *link; /* the reviews of one loop share it; NULL: each begins anew */
    uint64_t timeout_ms;      /* of one attempt; 0: 30 s */
    unsigned attempts;        /* 0: 3 */
    uint64_t backoff_ms; /* the longest wait before the second attempt, doubled for each further
                            one; 0: 1 s */
};

/* Could a review begin so? The URL, the key and the certificates are looked at, and the module is
 * loaded; nothing is sent. */
int review_check(const struct review_spec *spec, struct gb_err *err) gb_nodiscard;

/*
 * The verdict is an object, gone after the callback unless it takes a reference:
 *
 *   secure    whether the code may run; false whenever `error` is set
 *   reason    the reviewer's words
 *   model     which model said so
 *   attempts  how many requests it took
 *   tokens    {"prompt", "completion", "total"} of all attempts, or null
 *   ms        from the beginning to the verdict
 *   detail    whatever else the reviewer said (a risk level, say), bounded, or null
 *   error     null, or why there is no verdict: then it failed closed
 *
 * It is NULL when memory ran out, which json_is_true(json_object_get(NULL, "secure")) denies too.
 */
typedef void (*review_done)(void *data, const json_t *verdict);

/*
 * Begin to have reviewed what `parts` say (manifest.h). `tools` is an array with the names of the
 * tools that it may call, or NULL. Both are copied, as is all of the spec but the loop and the
 * link.
 *
 * `done` is called once, from the loop, never from in here; the review is gone by then. NULL with
 * err when it cannot begin: then the code must not run either.
 */
struct review *review_begin(const struct review_spec *spec, const json_t *parts,
                            const json_t *tools, review_done done, void *data, struct gb_err *err);

/* End it; `done` is not called. Accepts NULL. Not for a review that is done. */
void review_cancel(struct review *r);

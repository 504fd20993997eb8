#pragma once
/*
 * What ran or was put into a session, and was not read yet by one who is to agree: a model, or a
 * person. Who reads the next thing of the session reads this with it, since a name that it uses, a
 * module that it imports or a thread that waits may come from there. A yes is one to all of it.
 */
#include <jansson.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "base/err.h"

struct walk;

enum {
    DOCKET_MAX = 512 << 10, /* bytes that are kept of cells, commands and what they brought */
    DOCKET_PARTS_MAX = 2000
};

struct docket {
    json_t *parts; /* as manifest.h has them, or NULL: none */
    size_t bytes;
    bool is_over;      /* there was more than is kept */
    struct walk *read; /* the workspace when all of it had been read, or NULL: it was empty */
    struct walk *now;  /* as it is shown: while an answer is waited for */
};

void docket_clear(struct docket *d);
void docket_done(struct docket *d);

/* Of a fork: its files are copies, so all of them count as unread. -1 with err. */
int docket_copy(struct docket *d, const struct docket *from, struct gb_err *err) gb_nodiscard;

/* Something ran that was not read. Takes the list; NULL: it could not be kept. */
void docket_add(struct docket *d, json_t *parts);

/* All that is to be read: what ran, and each file of the workspace that changed, as it is now.
 * `ground` may be NULL, where there is no workspace yet. New reference; NULL with err. */
json_t *docket_unread(struct docket *d, const struct place_ground *ground, struct gb_err *err);

/* There was a yes to what docket_unread() told. Returns false when the workspace has changed since:
 * then it was not a yes to what is there. */
bool docket_agree(struct docket *d, const struct place_ground *ground);

/* What was agreed to has run: what it left is its doing. */
void docket_see(struct docket *d, const struct place_ground *ground);

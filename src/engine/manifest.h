#pragma once
/*
 * What would execute. Everything of a request that decides it becomes a part here, and a model that
 * reviews, a person who approves and the audit's digest all get their view from these parts: a face
 * only prints them.
 *
 * A part is an object: "title" (what it is), "text" (all of it), "lines" (how it is split into
 * lines, by the name that visible.h has for it), "is_brief" (one line of JSON), "is_program" (the
 * one that the request is about; the last).
 *
 * Values that a request gives are shown: they are its client's own, and may decide what runs. What
 * the operator configured is known to the operator and may be secret: of variables only the names
 * are shown, unless they decide what runs.
 */
#include <jansson.h>

#include "base/err.h"
#include "base/visible.h"
#include "engine/digest.h"
#include "engine/request.h"

enum {
    MANIFEST_MAX = 2 << 20 /* bytes of all parts together: more than that nobody reads */
};

/* Parts on their way together. */
struct manifest {
    json_t *parts;
    size_t bytes, max; /* of all texts */
};

/* Who reads it before it runs. */
enum manifest_reader {
    READER_MODEL,
    READER_PERSON,
    READERS
};

/* All parts of a request. New reference; NULL with err, of GB_E_LIMIT when there is too much. */
json_t *manifest_parts(const struct request *r, const struct config *config, struct gb_err *err);

/* The SHA-256 of the same, and of where it would run. */
void manifest_digest(const struct request *r, const struct config *config,
                     char ret[DIGEST_HEX + 1]);

/* Add a part with these bytes: as text, or as base64 where they are none. -1 with err. */
int manifest_add(struct manifest *to, const char *title, const char *bytes, size_t len,
                 enum visible_lines lines, struct gb_err *err) gb_nodiscard;

/* Put more parts before the program. The list is borrowed. -1 with err. */
int manifest_insert(json_t *parts, const json_t *more, struct gb_err *err) gb_nodiscard;

/* The parts of what was asked that a session keeps, to be shown later: without files, which are
 * looked at then. New reference. */
json_t *manifest_kept(const struct request *r, const struct config *config, const char *title);

/* Bytes of all texts. */
size_t manifest_bytes(const json_t *parts);

/* Print the text of a part, each line after a newline and `before`. */
void manifest_put(FILE *f, const json_t *part, const char *before);

/* Does somebody see what this key of a request says? True: yes; *ret_why is where. False: no;
 * *ret_why is why it decides nothing, or NULL, which no key may be: tests/unit/test_manifest.c. */
bool manifest_shows(const char *key, const char **ret_why);

#pragma once
/*
 * The lines of an audit file, and how they hang together.
 *
 *   {"v":1,"seq":7,"time":"...","event":"started", ...facts... ,"prev":"...","hash":"..."}
 *
 * `hash` is the SHA-256 of the line's own bytes before ',"hash":"', so a line that was changed
 * shows by itself. `prev`, which is among those bytes, is the hash of the line before, and `seq` is
 * one more than its: so does a line that is missing, put in or moved.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/digest.h"

enum {
    CHAIN_VERSION = 1,
    CHAIN_LINE_MAX = 64 << 10 /* without its newline */
};

/* Where a chain stands: its last line. */
struct chain_link {
    uint64_t seq;
    char hash[DIGEST_HEX + 1];
};

/* Before the first line: number 0, a hash of zeros. */
struct chain_link chain_start(void);

/* Add one line, newline included, after `*last`, which then is that line. `facts` is the text of a
 * JSON object that is not empty. */
int chain_add(struct gb_buf *buf, struct chain_link *last, const char *event, const char *facts,
              struct gb_err *err) gb_nodiscard;

enum chain_form {
    CHAIN_SOUND,
    CHAIN_CHANGED,  /* its hash is another */
    CHAIN_FOREIGN,  /* not such a line at all */
    CHAIN_VERSIONED /* of a version that we do not know */
};

struct chain_line {
    json_t *json; /* owned; the pointers look into it */
    struct chain_link link;
    const char *event;
    const char *prev;
};

/* Read a line, without its newline. Only a sound one is put into *ret: chain_line_done() it. */
enum chain_form chain_read(const char *text, size_t len, struct chain_line *ret);
void chain_line_done(struct chain_line *line);

/* Could this be the beginning of a line that was cut off? */
bool chain_is_begun(const char *text, size_t len);

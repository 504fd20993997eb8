/*
 * Any text as a command line: it is read or refused, in bounded depth and memory; and any text as a
 * terminal's: as many lines come out as go in.
 */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/commands.h"
#include "shell/plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines;

static void count(void *data, const char *bytes, size_t len)
{
    (void)data;
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_t *allowed;
    struct commands_verdict v;
    struct plain *p = malloc(sizeof(*p));
    size_t want = 0;

    if (!allowed)
        allowed = json_pack("[s,s,s,s]", "a", "[", "read", "printf");
    if (!memchr(data, '\0', size)) {
        commands_check((const char *)data, size, allowed, &v);
        assert(v.is_allowed || v.message[0]);
        assert(v.is_allowed || v.line >= 1);
    }
    lines = 0;
    plain_init(p, count, NULL);
    plain_add(p, (const char *)data, size);
    plain_end(p);
    for (size_t i = 0; i < size; i++)
        want += data[i] == '\n';
    /* A line that is too long to be held and is then written over begins another. */
    assert(lines >= want && lines <= want + size / PLAIN_LINE);
    free(p);
    return 0;
}

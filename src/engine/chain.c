#include "engine/chain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

static const char head_mark[] = "{\"v\":";
static const char hash_mark[] = ",\"hash\":\"";

enum {
    HEAD_MARK = sizeof(head_mark) - 1,
    HASH_MARK = sizeof(hash_mark) - 1,
    TRAILER = HASH_MARK + DIGEST_HEX + 2 /* the mark, the digits, "} */
};

struct chain_link chain_start(void)
{
    struct chain_link start = { 0 };

    memset(start.hash, '0', DIGEST_HEX);
    return start;
}

/* ---- writing ---- */

static int add_head(struct gb_buf *buf, uint64_t seq, const char *event, struct gb_err *err)
{
    struct timespec now = { 0 };
    struct tm utc = { 0 };
    char head[160], date[32];
    int n;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    n = snprintf(head, sizeof(head),
                 "%s%d,\"seq\":%" PRIu64 ",\"time\":\"%s.%06ldZ\",\"event\":\"%.32s\",", head_mark,
                 CHAIN_VERSION, seq, date, now.tv_nsec / 1000, event);
    return gb_buf_add(buf, head, (size_t)n, err);
}

static int add_line(struct gb_buf *buf, struct chain_link *last, const char *event,
                    const char *facts, struct gb_err *err)
{
    size_t start = buf->len, inner = strlen(facts) - 2; /* without its braces */
    struct chain_link next = { .seq = last->seq + 1 };
    char text[TRAILER + 2];
    int n;

    if (add_head(buf, next.seq, event, err) < 0 || gb_buf_add(buf, facts + 1, inner, err) < 0)
        return -1;
    n = snprintf(text, sizeof(text), ",\"prev\":\"%s\"", last->hash);
    if (gb_buf_add(buf, text, (size_t)n, err) < 0)
        return -1;
    digest_hex(buf->data + start, buf->len - start, next.hash);
    n = snprintf(text, sizeof(text), "%s%s\"}\n", hash_mark, next.hash);
    if (gb_buf_add(buf, text, (size_t)n, err) < 0)
        return -1;
    if (buf->len - start - 1 > CHAIN_LINE_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "an audit line of more than %d bytes", CHAIN_LINE_MAX);
    *last = next;
    return 0;
}

int chain_add(struct gb_buf *buf, struct chain_link *last, const char *event, const char *facts,
              struct gb_err *err)
{
    size_t before = buf->len;

    if (add_line(buf, last, event, facts, err) == 0)
        return 0;
    buf->len = before;
    return -1;
}

/* ---- reading ---- */

bool chain_is_begun(const char *text, size_t len)
{
    return memcmp(text, head_mark, len < HEAD_MARK ? len : HEAD_MARK) == 0;
}

static bool is_digest(const char *text, size_t len)
{
    return len == DIGEST_HEX && strspn(text, "0123456789abcdef") >= DIGEST_HEX;
}

/* Told by its beginning alone: another version may make its hash differently. */
static bool is_other_version(const char *text, size_t len)
{
    int version = 0;
    size_t at = HEAD_MARK;

    for (; at < len && at < HEAD_MARK + 6 && text[at] >= '0' && text[at] <= '9'; at++)
        version = version * 10 + (text[at] - '0');
    return at > HEAD_MARK && at < len && text[at] == ',' && version != CHAIN_VERSION;
}

static enum chain_form read_keys(const char *text, size_t len, struct chain_line *ret)
{
    json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    json_int_t seq = json_integer_value(json_object_get(json, "seq"));
    const json_t *prev = json_object_get(json, "prev");

    *ret = (struct chain_line){ .json = json,
                                .link.seq = (uint64_t)seq,
                                .event = json_string_value(json_object_get(json, "event")),
                                .prev = json_string_value(prev) };
    memcpy(ret->link.hash, text + len - DIGEST_HEX - 2, DIGEST_HEX);
    if (seq > 0 && ret->event && ret->prev && is_digest(ret->prev, json_string_length(prev)))
        return CHAIN_SOUND;
    chain_line_done(ret);
    return CHAIN_FOREIGN;
}

enum chain_form chain_read(const char *text, size_t len, struct chain_line *ret)
{
    char own[DIGEST_HEX + 1];
    const char *trailer;

    if (len < TRAILER + HEAD_MARK || len > CHAIN_LINE_MAX || !chain_is_begun(text, len))
        return CHAIN_FOREIGN;
    if (is_other_version(text, len))
        return CHAIN_VERSIONED;
    trailer = text + len - TRAILER;
    if (memcmp(trailer, hash_mark, HASH_MARK) != 0 || memcmp(text + len - 2, "\"}", 2) != 0)
        return CHAIN_FOREIGN;
    digest_hex(text, len - TRAILER, own);
    if (memcmp(own, trailer + HASH_MARK, DIGEST_HEX) != 0)
        return CHAIN_CHANGED;
    return read_keys(text, len, ret);
}

void chain_line_done(struct chain_line *line)
{
    json_decref(line->json);
    *line = (struct chain_line){ 0 };
}

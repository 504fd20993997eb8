#include "mcp/sse.h"

#include <stdlib.h>
#include <string.h>

enum {
    RETRY_MAX_MS = 60000
};

void sse_init(struct sse *s, size_t max)
{
    *s = (struct sse){ .retry_ms = -1 };
    gb_buf_init(&s->line, max);
    gb_buf_init(&s->data, max);
}

void sse_done(struct sse *s)
{
    gb_buf_done(&s->line);
    gb_buf_done(&s->data);
}

/* The value of a field behind its colon and one space; NULL: it is another field. */
static const char *value_of(const struct sse *s, const char *field, size_t *ret_len)
{
    size_t n = strlen(field);

    if (s->line.len < n || memcmp(s->line.data, field, n) != 0)
        return NULL;
    if (s->line.len > n && s->line.data[n] != ':')
        return NULL;
    n += s->line.len > n;
    n += s->line.len > n && s->line.data[n] == ' ';
    *ret_len = s->line.len - n;
    return s->line.data + n;
}

static int take_line(struct sse *s)
{
    struct gb_err err;
    const char *value;
    char number[16];
    size_t len;

    value = value_of(s, "data", &len);
    if (value) {
        if (s->has_data && gb_buf_add(&s->data, "\n", 1, &err) < 0)
            return -1;
        s->has_data = true;
        return gb_buf_add(&s->data, value, len, &err);
    }
    value = value_of(s, "id", &len);
    if (value && len < sizeof(s->id) && !memchr(value, '\0', len)) {
        memcpy(s->id, value, len);
        s->id[len] = '\0';
    }
    value = value_of(s, "retry", &len);
    if (value && len > 0 && len < sizeof(number)) {
        memcpy(number, value, len);
        number[len] = '\0';
        s->retry_ms = strtol(number, NULL, 10);
        if (s->retry_ms < 0 || s->retry_ms > RETRY_MAX_MS)
            s->retry_ms = RETRY_MAX_MS;
    }
    return 0;
}

int sse_feed(struct sse *s, const char *bytes, size_t len,
             bool (*event)(void *data, const char *text, size_t len), void *data)
{
    struct gb_err err;

    for (size_t i = 0; i < len; i++) {
        bool is_end = bytes[i] == '\n' || bytes[i] == '\r';
        bool is_second = bytes[i] == '\n' && s->is_after_cr; /* of "\r\n" */
        size_t n = i;

        s->is_after_cr = bytes[i] == '\r';
        if (is_second)
            continue;
        while (!is_end && n < len && bytes[n] != '\n' && bytes[n] != '\r')
            n++;
        if (n > i) {
            if (gb_buf_add(&s->line, bytes + i, n - i, &err) < 0)
                return -1;
            i = n - 1;
            continue;
        }
        if (s->line.len > 0) {
            if (take_line(s) < 0)
                return -1;
            s->line.len = 0;
            continue;
        }
        if (s->data.len > 0 && !event(data, s->data.data, s->data.len))
            return 0; /* `s` may be gone */
        s->data.len = 0;
        s->has_data = false;
    }
    return 0;
}

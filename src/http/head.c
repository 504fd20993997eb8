#include "http/head.h"

#include <string.h>
#include <strings.h>

#include "http/guard.h"

static bool shows(const struct head *head, const char *token)
{
    static const char name[] = "Authorization:";
    const char *value = head->line + sizeof(name) - 1;

    if (head->len > HEAD_LINE_MAX || strncasecmp(head->line, name, sizeof(name) - 1) != 0)
        return false;
    return guard_token(value + strspn(value, " \t"), token);
}

static bool end_line(struct head *head, const char *token)
{
    size_t len = head->len;

    if (len <= HEAD_LINE_MAX && len > 0 && head->line[len - 1] == '\r')
        len--;
    head->is_over = len == 0;
    head->line[len <= HEAD_LINE_MAX ? len : 0] = '\0';
    return shows(head, token);
}

bool head_feed(struct head *head, const char *bytes, size_t len, const char *token)
{
    bool is_shown = false;

    while (len > 0 && !head->is_over) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) : len;
        size_t room = head->len < HEAD_LINE_MAX ? HEAD_LINE_MAX - head->len : 0;

        memcpy(head->line + (HEAD_LINE_MAX - room), bytes, n < room ? n : room);
        head->len += n;
        bytes += n;
        len -= n;
        if (!end)
            break;
        is_shown = end_line(head, token) || is_shown;
        head->len = 0;
        bytes++;
        len--;
    }
    return is_shown;
}

#include "base/mime.h"

#include <string.h>

#include "base/own.h"

/* The characters of RFC 6838, section 4.2, without capitals: types are compared as they are. */
static const char token[] = "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+";

bool mime_is_valid(const char *text, size_t len)
{
    size_t type = strspn(text, token);
    size_t subtype = text[type] == '/' ? strspn(text + type + 1, token) : 0;

    return type > 0 && subtype > 0 && type + 1 + subtype == len && len <= MIME_MAX;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

bool mime_is_text(const char *mime)
{
    static const char *const ends[] = { "/json", "+json", "/xml", "+xml", "/javascript" };

    if (strncmp(mime, "text/", 5) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (ends_with(mime, ends[i]))
            return true;
    return false;
}

const char *mime_extension(const char *mime)
{
    static const struct {
        const char *mime, *extension;
    } known[] = {
        { "image/png", "png" },         { "image/jpeg", "jpg" },    { "image/gif", "gif" },
        { "image/webp", "webp" },       { "image/svg+xml", "svg" }, { "application/pdf", "pdf" },
        { "application/json", "json" }, { "text/html", "html" },
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i].mime, mime) == 0)
            return known[i].extension;
    return mime_is_text(mime) ? "txt" : "bin";
}

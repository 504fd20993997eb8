#include "base/piece.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"

/* Without the bytes of a character that goes on behind the end, if there are any before it. */
static size_t whole_characters(const char *bytes, size_t len)
{
    for (size_t less = 1; less < 4 && less < len; less++)
        if (((unsigned char)bytes[len - less] & 0xc0) == 0xc0)
            return utf8_first_bad(bytes + len - less, less) >= 0 ? len - less : len;
    return len;
}

json_t *piece_json(const char *path, const char *bytes, size_t len, uint64_t offset, uint64_t size)
{
    bool is_end = offset + len >= size;
    size_t shown = is_end ? len : whole_characters(bytes, len);
    bool is_text = !memchr(bytes, '\0', shown) && utf8_first_bad(bytes, shown) < 0;
    json_t *piece;

    if (!is_text)
        shown = len;
    piece = json_pack("{s:s,s:I,s:I,s:I,s:b}", "path", path, "bytes", (json_int_t)size, "offset",
                      (json_int_t)offset, "length", (json_int_t)shown, "is_whole",
                      offset == 0 && is_end);
    (void)json_object_set_new(piece, is_text ? "text" : "base64",
                              is_text ? json_stringn(bytes, shown) : json_base64(bytes, shown));
    return piece;
}

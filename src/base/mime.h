#pragma once
/* Media types: "text/html", "image/png". */
#include <stdbool.h>
#include <stddef.h>

enum {
    MIME_MAX = 127 /* bytes of a type */
};

/* Is it a type and a subtype, without parameters? */
bool mime_is_valid(const char *text, size_t len);

/* Does content of this type travel as text? All other content travels as base64. */
bool mime_is_text(const char *mime);

/* The usual ending of a file of this type, without the dot; "bin" when there is none. */
const char *mime_extension(const char *mime);

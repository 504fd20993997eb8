#pragma once
/* A piece of a file, as read_file shows it. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* `len` bytes from `offset` on, of a file of `size` bytes: as text where they are UTF-8, without
 * the bytes of a character that goes on behind the end; else as base64. New; NULL when memory ran
 * out. */
json_t *piece_json(const char *path, const char *bytes, size_t len, uint64_t offset, uint64_t size);

#pragma once
/* What a command of a persistent shell reads: a file, which the shell opens by its name. */
#include <stdint.h>

#include "base/err.h"
#include "shell/stream.h"

void feed_name(const char *dir, uint64_t cell, char path[STREAM_PATH]);

/* Make the file, with what is in `from`, from its beginning. What could be written before it failed
 * stays: whoever has the name removes it. */
int feed_write(const char *path, int from, struct gb_err *err) gb_nodiscard;

#pragma once
/* Which directories of the host a program sees: reading what was configured and asked for. */
#include <jansson.h>

#include "base/err.h"
#include "engine/config.h"
#include "sandbox/mounts.h"

/* Add a list of "HOST:NAME[:ro|rw]" and of {"host", "name", "mode"}. A later one takes the place of
 * an earlier one of its name. */
int mounts_read(struct mounts *m, const json_t *value, struct gb_err *err) gb_nodiscard;

/* What a request asks for: of what is configured, by name, no more than is configured; or anything,
 * where that is allowed. The caller drops the reference. */
int mounts_request(const struct config *config, const json_t *value, struct mounts **ret,
                   struct gb_err *err) gb_nodiscard;

/* {"name", "host", "mode", "path"} of each; `path` is where a box of that level has it. */
json_t *mounts_json(const struct mounts *mounts, bool is_rooted);

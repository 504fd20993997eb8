#pragma once
/* What the commands that serve others share. */
#include <jansson.h>

#include "base/err.h"
#include "cli/cli.h"
#include "mcp/face.h"

extern const struct option_group served_options; /* how many at once, how long a question waits */

/* Take what is the face's out of the engine's configuration, and add what a server wants of the
 * engine. */
int served_settings(const struct args *args, json_t *config, struct mcp_face_spec *face,
                    struct gb_err *err) gb_nodiscard;

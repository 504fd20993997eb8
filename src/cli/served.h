#pragma once
/* What the commands that serve others share. */
#include <jansson.h>

#include "base/err.h"
#include "cli/cli.h"
#include "mcp/face.h"

extern const struct option_group served_options; /* how many at once, how long a question waits */

/* Say it, once, if this host turns out to hold no box. 0: nothing is known yet; 1: it does; -1: it
 * was said. */
int served_watch(struct gb_engine *engine, int known);

/* Take what is the face's out of the engine's configuration, and add what a server wants of the
 * engine. */
int served_settings(const struct args *args, json_t *config, struct mcp_face_spec *face,
                    struct gb_err *err) gb_nodiscard;

#pragma once
/* From the shape of a box to its plan. Composing costs more than the rest of ordering a box, so
 * plans are kept. */
#include <jansson.h>
#include <stdbool.h>

#include "backend/box.h"
#include "base/buf.h"
#include "sandbox/compose.h"
#include "sandbox/seccomp.h"

enum {
    PLANS_KEPT = 8
};

struct plans {
    struct {
        struct box_shape shape;
        struct composed composed;
        bool used;
    } kept[PLANS_KEPT];
    unsigned next;
};

bool shape_same(const struct box_shape *a, const struct box_shape *b);

void plans_done(struct plans *p);

/* The plan of a shape, borrowed until the next call; NULL with err. `scratch` names the directory
 * of a box without a private root, else NULL; `info` is what the zygote told of itself. */
struct composed *plans_get(struct plans *p, const struct box_shape *shape, const char *scratch,
                           const json_t *info, struct gb_err *err) gb_nodiscard;

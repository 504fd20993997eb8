#include "mcp/link.h"

struct link *link_http_new(const struct link_spec *spec, struct gb_err *err)
{
    (void)spec;
    (void)gb_fail(err, GB_E_SYSTEM, 0, "HTTP comes next");
    return NULL;
}

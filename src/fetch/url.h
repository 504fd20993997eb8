#pragma once
#include "fetch/fetch.h"

/* The `url` of the table in fetch.h. */
int url_read(const char *base, const char *path, struct fetch_url *ret,
             struct gb_err *err) gb_nodiscard;

#pragma once
/* So many requests a second from one address. */
#include <stdbool.h>
#include <stdint.h>

struct rates;

/* `rate` a second, and up to two seconds' worth at once. NULL when memory ran out. */
struct rates *rates_new(unsigned rate);
struct rates *rates_free(struct rates *rates); /* accepts NULL */

/* May it go on? Takes `cost` requests' worth if so. */
bool rates_take(struct rates *rates, const char *address, unsigned cost, int64_t now_us);

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

/* How many digits this real needs: most do with 15, none needs more than 17. */
static int digits_of(double d)
{
    char text[40];

    for (int digits = 15; digits < 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            return digits;
    }
    return 17;
}

static int digits_needed(json_t *json)
{
    int most = 15, n;

    if (json_is_real(json))
        return digits_of(json_real_value(json));
    for (size_t i = 0; i < json_array_size(json); i++) {
        n = digits_needed(json_array_get(json, i));
        most = n > most ? n : most;
    }
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        n = digits_needed(json_object_iter_value(at));
        most = n > most ? n : most;
    }
    return most;
}

char *json_text(const json_t *json)
{
    size_t digits = (size_t)digits_needed(json_shared(json));

    return json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
}

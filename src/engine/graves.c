#include "engine/graves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/job.h"
#include "engine/session.h"

enum {
    GRAVES_MAX = 256
};

struct grave {
    struct grave *next;
    char name[SESSION_NAME_MAX + 1];
    char why[200];
};

void grave_dig(struct gb_engine *engine, const char *name, const char *why)
{
    struct grave *g = calloc(1, sizeof(*g)), **at = &engine->graves;

    if (!g)
        return;
    (void)snprintf(g->name, sizeof(g->name), "%s", name);
    (void)snprintf(g->why, sizeof(g->why), "%s", why);
    g->next = engine->graves;
    engine->graves = g;
    for (size_t n = 0; *at; at = &(*at)->next) {
        if (++n == GRAVES_MAX) {
            while ((*at)->next) {
                struct grave *old = (*at)->next;
                (*at)->next = old->next;
                free(old);
            }
            return;
        }
    }
}

int grave_visit(struct gb_engine *engine, const char *name, struct gb_err *err)
{
    for (struct grave **at = &engine->graves; *at; at = &(*at)->next) {
        struct grave *g = *at;
        if (strcmp(g->name, name) != 0)
            continue;
        (void)gb_fail(err, GB_E_GONE, 0, "the session '%.60s' is gone: %.150s", name, g->why);
        (void)gb_fail_hint(err, "what it held is lost; the next request begins a new one");
        *at = g->next;
        free(g);
        return -1;
    }
    return 0;
}

void graves_free(struct gb_engine *engine)
{
    while (engine->graves) {
        struct grave *g = engine->graves;
        engine->graves = g->next;
        free(g);
    }
}

#pragma once
/*
 * What code may say: the policies' default lists, what the operator and a request said about
 * them, and the rules that come of it. The rules go with the program to the checker in its box,
 * which has no lists of its own.
 */
#include <jansson.h>

#include "base/err.h"
#include "engine/settings.h"

enum policy_list {
    LIST_ALLOW_IMPORT,
    LIST_BLOCK_IMPORT,
    LIST_ALLOW_BUILTIN,
    LIST_BLOCK_BUILTIN,
    LIST_ALLOW_OS_ATTR,
    POLICY_LISTS
};

/*
 * What was said about each list: names to add, in order, and "=", which empties the list of
 * everything before it, the policy's own names too. NULL: nothing was said.
 */
struct policy_lists {
    json_t *said[POLICY_LISTS];
};

/* Take what key `key` ("allow_import", ...) says, after what was said before. Returns 1 if there
 * is such a key, 0 if there is none, -1 with err if the value will not do. */
int policy_say(struct policy_lists *p, const char *key, const json_t *value, struct gb_err *err);

/* The keys that it takes, one after the other; NULL after the last. */
const char *policy_key(size_t i);

/* Refuse lists that would do nothing, since somebody relies on them. */
int policy_check(const struct settings *s, const struct policy_lists *p,
                 struct gb_err *err) gb_nodiscard;

void policy_done(struct policy_lists *p);

/* The rules, as the checker reads them (new reference). A name that is blocked by name is blocked.
 * One that is only on the policy's own list of blocked names, and allowed by name, is allowed. */
json_t *policy_rules(const struct settings *s, const struct policy_lists *p);

/* The rules for a request that said `asked`: no looser than those for `configured`, but for the
 * keys in `allowed`. `asked` adds to what the operator `said`. */
int policy_request(const struct settings *configured, const struct policy_lists *said,
                   const struct settings *s, const struct policy_lists *asked,
                   const json_t *allowed, json_t **ret, struct gb_err *err) gb_nodiscard;

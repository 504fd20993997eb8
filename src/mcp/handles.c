#include "mcp/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/own.h"

enum {
    RANDOM_CHARS = 24 /* of 32 letters each: 120 bits */
};

/* An object keeps the order in which its keys were set: the one used longest ago comes first. */
struct handles {
    json_t *all; /* handle: the principal, or null */
};

struct handles *handles_new(void)
{
    struct handles *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->all = json_object();
    return h->all ? h : handles_free(h);
}

struct handles *handles_free(struct handles *handles)
{
    if (handles)
        json_decref(handles->all);
    free(handles);
    return NULL;
}

static int make_up(char ret[HANDLE_TEXT])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    unsigned char random[RANDOM_CHARS];

    _Static_assert(sizeof(letters) - 1 == 32, "five bits a letter");
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return -1;
    memcpy(ret, "sess-", 5);
    for (size_t i = 0; i < RANDOM_CHARS; i++)
        ret[5 + i] = letters[random[i] & 31];
    ret[5 + RANDOM_CHARS] = '\0';
    return 0;
}

const char *handles_mint(struct handles *h, const char *principal)
{
    char text[HANDLE_TEXT];

    if (make_up(text) < 0 || json_object_set_new(h->all, text, json_pack("s?", principal)) < 0)
        return NULL;
    if (json_object_size(h->all) > HANDLES_MAX)
        (void)json_object_del(h->all, json_object_iter_key(json_object_iter(h->all)));
    return json_object_iter_key(json_object_iter_at(h->all, text));
}

bool handles_has(struct handles *h, const char *handle, const char *principal)
{
    json_t *entry = json_object_get(h->all, handle);
    char name[HANDLE_TEXT];
    const char *owner = json_string_value(entry);

    if (!entry || !owner != !principal || (owner && strcmp(owner, principal) != 0))
        return false;
    /* To the end. By a copy: the text may be the key that goes. */
    (void)snprintf(name, sizeof(name), "%s", handle);
    json_incref(entry);
    (void)json_object_del(h->all, name);
    (void)json_object_set_new(h->all, name, entry);
    return true;
}

void handles_drop(struct handles *handles, const char *handle)
{
    (void)json_object_del(handles->all, handle);
}

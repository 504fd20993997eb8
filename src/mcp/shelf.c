#include "mcp/shelf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"

#define LIFE_US  ((int64_t)15 * 60 * 1000000)
#define ITEM_MAX ((size_t)15 << 19) /* 7.5 MiB: what a tool's result can carry */

enum {
    ITEMS_MAX = 4096,
    BYTES_MAX = 64 << 20
};

struct item {
    struct item *next; /* the next younger */
    char id[SHELF_ID];
    size_t server, bytes;
    json_t *data;
    char *uri;
    int64_t until_us;
};

struct shelf {
    struct item *oldest, *youngest;
    size_t count, bytes;
};

static void drop_oldest(struct shelf *shelf)
{
    struct item *item = shelf->oldest;

    shelf->oldest = item->next;
    if (!shelf->oldest)
        shelf->youngest = NULL;
    shelf->count--;
    shelf->bytes -= item->bytes;
    json_decref(item->data);
    free(item->uri);
    free(item);
}

static void expire(struct shelf *shelf)
{
    int64_t now = clock_us();

    while (shelf->oldest &&
           (shelf->oldest->until_us < now || shelf->count > ITEMS_MAX || shelf->bytes > BYTES_MAX))
        drop_oldest(shelf);
}

struct shelf *shelf_new(void)
{
    return calloc(1, sizeof(struct shelf));
}

struct shelf *shelf_free(struct shelf *shelf)
{
    while (shelf && shelf->oldest)
        drop_oldest(shelf);
    free(shelf);
    return NULL;
}

static size_t bytes_of(const json_t *data, const char *uri)
{
    return json_string_length(json_object_get(data, "base64")) +
           json_string_length(json_object_get(data, "text")) + (uri ? strlen(uri) : 0);
}

int shelf_add(struct shelf *shelf, size_t server, json_t *data, const char *uri, char ret[SHELF_ID])
{
    struct item *item = calloc(1, sizeof(*item));
    uint64_t random[2];

    if (!item || bytes_of(data, uri) > ITEM_MAX || getrandom(random, sizeof(random), 0) < 0) {
        json_decref(data);
        free(item);
        return -1;
    }
    *item = (struct item){ .server = server,
                           .data = data,
                           .uri = uri ? strdup(uri) : NULL,
                           .bytes = bytes_of(data, uri) + sizeof(*item),
                           .until_us = clock_us() + LIFE_US };
    (void)snprintf(item->id, sizeof(item->id), "%016llx%016llx", (unsigned long long)random[0],
                   (unsigned long long)random[1]);
    memcpy(ret, item->id, SHELF_ID);
    if (shelf->youngest)
        shelf->youngest->next = item;
    else
        shelf->oldest = item;
    shelf->youngest = item;
    shelf->count++;
    shelf->bytes += item->bytes;
    expire(shelf);
    return 0;
}

int shelf_find(struct shelf *shelf, const char *handle, struct shelf_item *ret)
{
    expire(shelf);
    for (const struct item *item = shelf->oldest; item; item = item->next) {
        if (strcmp(item->id, handle) != 0)
            continue;
        *ret = (struct shelf_item){ .server = item->server, .data = item->data, .uri = item->uri };
        return 0;
    }
    return -1;
}

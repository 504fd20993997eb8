#pragma once
/* Glovebox as an MCP server: its tools over an engine, for whatever transport. */
#include <stdbool.h>

#include "base/err.h"
#include "mcp/mcp.h"
#include "mcp/runs.h"

struct gb_engine;
struct mcp_face;

struct mcp_face_spec {
    struct event_base *base; /* borrowed: the engine's loop; NULL with an engine that is there */
    struct gb_engine
        *engine; /* borrowed; NULL: it comes with mcp_face_attach(), when `prepare` is called */
    void (*prepare)(void *data);
    void *data;
    unsigned at_once;     /* runs at once; 0: four a processor */
    unsigned ask_ttl_ms;  /* how long a question waits; 0: ten minutes */
    unsigned file_ttl_ms; /* how long captured files can be read; 0: fifteen minutes */
    size_t files_bytes;   /* of them at once; 0: 64 MiB */
    bool is_code_mode;    /* execute_code alone */
};

int mcp_face_new(const struct mcp_face_spec *spec, struct mcp_face **ret,
                 struct gb_err *err) gb_nodiscard;

/* The engine, on the loop of `base`. Only where there was none. */
int mcp_face_attach(struct mcp_face *face, struct gb_engine *engine,
                    struct gb_err *err) gb_nodiscard;

/* Ends every run of it. To be called before the engine is freed, and after all peers are. Accepts
 * NULL. */
struct mcp_face *mcp_face_free(struct mcp_face *face);

/* Both borrowed. */
struct mcp_server *mcp_face_server(struct mcp_face *face);
struct runs *mcp_face_runs(struct mcp_face *face);

/* What programs can do has changed (the engine's tools, say): describe it anew. */
int mcp_face_refresh(struct mcp_face *face, struct gb_err *err) gb_nodiscard;

#pragma once
/* What the files of glovebox's own face share. */
#include "mcp/face.h"
#include "mcp/files.h"
#include "mcp/handles.h"

struct mcp_face {
    struct mcp_face_spec spec;
    struct mcp_server *server;
    struct runs *runs;
    struct mcp_files *files;
    struct handles *handles;
    bool has_sessions, has_shell;
    uint64_t timeout_ms; /* that is configured */
    bool is_timeout_loose;
};

/* ---- tools.c ---- */

/* Register what this engine can do. */
int tools_register(struct mcp_face *face, struct gb_err *err) gb_nodiscard;

/* ---- execute.c ---- */

/* How the result of the engine becomes that of the tool. */
enum execute_as {
    EXECUTE_RUN, /* a program's or a command's: the result object, text, pictures, files */
    EXECUTE_OP   /* about a session: its value */
};

/* Run a request, which is taken, for a call. `session` is the handle that it is about, or NULL. */
void execute(struct mcp_call *call, struct mcp_face *face, json_t *request, enum execute_as as);

/* Glovebox as an MCP server: an engine, a queue, the tools, the files that programs left. */
#include "mcp/face.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/loop.h"
#include "mcp/tools.h"

enum {
    RUNS_A_PROCESSOR = 4,
    FILE_TTL_MS = 900000,
    FILES_BYTES = 64 << 20,
    LIST_TTL_MS = 60000,
    COMPLETIONS_MAX = 100
};

static const char instructions[] =
    "Glovebox runs model-written code in a sandbox that the kernel holds shut. The description of "
    "execute_code says what programs can do and what they cannot. Results hold what was printed, "
    "the "
    "value of the last expression, errors with their lines, and files that were made.";

/* ---- files as resources ---- */

static void read_kept(struct mcp_call *call, void *data)
{
    struct mcp_face *face = data;
    json_t *content = mcp_files_read(face->files, mcp_call_target(call), mcp_call_principal(call));

    if (content)
        mcp_call_finish(call, json_pack("{s:[o],s:i}", "contents", content, "ttlMs", 0));
    else
        mcp_call_no_resource(call);
}

/* The parts of the template {id}/{path}, of files that are kept. */
static json_t *complete(void *data, const struct mcp_call *call, const json_t *params)
{
    static const char start[] = "glovebox://file/";
    struct mcp_face *face = data;
    const json_t *argument = json_object_get(params, "argument");
    const json_t *known = json_object_get(json_object_get(params, "context"), "arguments");
    const char *id = json_string_at(known, "id", "");
    bool is_id = strcmp(json_string_at(argument, "name", ""), "id") == 0;
    const char *typed = json_string_at(argument, "value", "");
    auto_json json_t *prefix =
        is_id ? json_sprintf("%s%s", start, typed) : json_sprintf("%s%s/%s", start, id, typed);
    auto_json json_t *uris = NULL;
    json_t *values = json_array();

    if (prefix &&
        strcmp(json_string_at(json_object_get(params, "ref"), "uri", ""), FILES_TEMPLATE) == 0)
        uris = mcp_files_complete(face->files, json_string_value(prefix), COMPLETIONS_MAX,
                                  mcp_call_principal(call));
    for (size_t i = 0; i < json_array_size(uris); i++) {
        const char *at = json_string_value(json_array_get(uris, i)) + sizeof(start) - 1;
        size_t len = strcspn(at, "/");

        (void)json_array_append_new(values,
                                    is_id ? json_stringn(at, len) : json_string(at + len + 1));
    }
    return json_pack("{s:o,s:b}", "values", values, "hasMore", 0);
}

/* ---- life ---- */

static void on_prepare(void *data)
{
    struct mcp_face *face = data;

    if (face->spec.prepare)
        face->spec.prepare(face->spec.data);
}

static int fill(struct mcp_face *face, struct gb_err *err)
{
    const struct mcp_server_spec spec = { .base = face->spec.base,
                                          .name = "glovebox",
                                          .title = "Glovebox",
                                          .version = gb_version(),
                                          .instructions = instructions,
                                          .list_ttl_ms = LIST_TTL_MS,
                                          .ask_ttl_ms = face->spec.ask_ttl_ms,
                                          .has_tools = true,
                                          .has_resources = true,
                                          .has_logging = true,
                                          .log_level = MCP_WARNING,
                                          .has_subscriptions = true,
                                          .complete = complete,
                                          .prepare = on_prepare,
                                          .data = face };

    face->server = mcp_server_new(&spec);
    face->files = mcp_files_new(spec.base, face->spec.file_ttl_ms, face->spec.files_bytes);
    face->handles = handles_new();
    if (!face->server || !face->files || !face->handles)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
    return mcp_server_add_template(
        face->server,
        json_pack("{s:s,s:s,s:s,s:s}", "uriTemplate", FILES_TEMPLATE, "name", "captured-file",
                  "title", "A file that a program left", "description",
                  "Files of a run, by the links in its result, for fifteen minutes or as long as "
                  "there is room"),
        read_kept, face, err);
}

int mcp_face_attach(struct mcp_face *face, struct gb_engine *engine, struct gb_err *err)
{
    face->spec.engine = engine;
    face->runs = runs_new(engine, face->spec.at_once);
    if (!face->runs)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
    face->has_sessions =
        engine_admits(engine, "{\"kind\":\"session\",\"op\":\"close\",\"session\":\"s\"}");
    face->has_shell = engine_admits(engine, "{\"kind\":\"shell\",\"command\":\":\"}");
    face->timeout_ms = engine_timeout_ms(engine, &face->is_timeout_loose);
    return tools_register(face, err);
}

int mcp_face_new(const struct mcp_face_spec *spec, struct mcp_face **ret, struct gb_err *err)
{
    struct mcp_face *face = calloc(1, sizeof(*face));

    if (!face)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
    face->spec = *spec;
    if (!spec->base)
        face->spec.base = engine_loop(spec->engine);
    if (spec->at_once == 0)
        face->spec.at_once = RUNS_A_PROCESSOR * cpus_usable();
    if (spec->file_ttl_ms == 0)
        face->spec.file_ttl_ms = FILE_TTL_MS;
    if (spec->files_bytes == 0)
        face->spec.files_bytes = FILES_BYTES;
    if (fill(face, err) < 0 || (spec->engine && mcp_face_attach(face, spec->engine, err) < 0)) {
        (void)mcp_face_free(face);
        return -1;
    }
    *ret = face;
    return 0;
}

struct mcp_face *mcp_face_free(struct mcp_face *face)
{
    if (!face)
        return NULL;
    (void)mcp_server_free(face->server); /* order: its parked calls drop their runs */
    (void)runs_free(face->runs);
    (void)mcp_files_free(face->files);
    (void)handles_free(face->handles);
    free(face);
    return NULL;
}

struct mcp_server *mcp_face_server(struct mcp_face *face)
{
    return face->server;
}

struct runs *mcp_face_runs(struct mcp_face *face)
{
    return face->runs;
}

int mcp_face_refresh(struct mcp_face *face, struct gb_err *err)
{
    return tools_register(face, err);
}

/* Glovebox's tools, as a table: what models read of them, what they take, and the request that each
 * becomes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/piece.h"
#include "engine/loop.h"
#include "glovebox.h"
#include "mcp/content.h"
#include "mcp/tools.h"
#include "result_made.h"

enum tool_flag {
    TOOL_READS = 1u << 0,    /* changes nothing */
    TOOL_SHELL = 1u << 1,    /* only where there is a shell */
    TOOL_SESSIONS = 1u << 2, /* only where there are sessions */
    TOOL_RUNS = 1u << 3,     /* answers with a result object */
    TOOL_REPEATS = 1u << 4,  /* a second call changes nothing more */
    TOOL_KEEPS = 1u << 5     /* may run in a session */
};

struct tool_row {
    const char *name, *title, *description;
    const char *properties; /* of its arguments, as JSON */
    const char *required;
    const char *output; /* properties of its result, unless it runs something */
    unsigned flags;
    mcp_handler run;
};

#define SESSION_PROPERTY                                                                        \
    "\"session\": {\"type\": \"string\", \"maxLength\": 64, \"description\": \"Handle of a "    \
    "session, as an earlier result has it; \\\"new\\\" begins one. Without it nothing is kept " \
    "between calls\"}"
#define HANDLE_PROPERTY                                                                        \
    "\"session\": {\"type\": \"string\", \"maxLength\": 64, \"description\": \"Handle of the " \
    "session\"}"
#define PATH_PROPERTY                                                                           \
    "\"path\": {\"type\": \"string\", \"maxLength\": 4096, \"description\": \"Relative to the " \
    "session's workspace\"}"
#define NAME_OUTPUT "\"name\": {\"type\": \"string\", \"description\": \"Its handle\"}"
#define TIMEOUT_PROPERTY                                                                       \
    "\"timeout\": {\"type\": \"number\", \"exclusiveMinimum\": 0, \"description\": \"Seconds " \
    "after which it is stopped; less than the configured limit\"}"

/* ---- arguments ---- */

/* More time than is configured is not refused but not given: a model does not know the limit. */
static void add_timeout(json_t *request, const struct mcp_face *face, const json_t *args)
{
    const json_t *timeout = json_object_get(args, "timeout");

    if (timeout &&
        (face->is_timeout_loose || json_number_value(timeout) * 1000 < (double)face->timeout_ms))
        (void)json_object_set_new(request, "timeout", json_incref(json_shared(timeout)));
}

/* Put the session into the request, which may begin one. False: the call was answered, and the
 * request dropped. */
static bool add_session(struct mcp_call *call, struct mcp_face *face, json_t *request, bool begins)
{
    const char *handle = json_string_at(mcp_call_arguments(call), "session", NULL);
    const char *principal = mcp_call_principal(call);

    if (!handle)
        return true;
    if (begins && strcmp(handle, "new") == 0) {
        handle = handles_mint(face->handles, principal);
    } else if (!handles_has(face->handles, handle, principal)) {
        json_decref(request);
        mcp_call_refuse(call, "unknown session: it was closed, has expired, or never was; \"new\" "
                              "begins one");
        return false;
    }
    if (handle)
        (void)json_object_set_new(request, "session", json_string(handle));
    return true;
}

static void copy(json_t *request, const json_t *args, const char *key)
{
    (void)json_object_set(request, key, json_object_get(args, key)); /* which may be absent */
}

/* May it be empty? An empty text is a file's; of the others it stands for none. */
static bool is_content(const char *key)
{
    static const char *const keys[] = { "code", "command", "text", "base64" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Frameworks fill in every argument that a schema has, with null or "" for those that the model
 * left out, and one takes "session" for its own: it says "session_id". */
static json_t *read_leniently(const json_t *given)
{
    json_t *args = json_copy(json_shared(given)), *value;
    const char *key;
    void *next;

    json_object_foreach_safe(args, next, key,
                             value) if (json_is_null(value) ||
                                        (json_is_string(value) && json_string_length(value) == 0 &&
                                         !is_content(key)))(void) json_object_del(args, key);
    if (json_object_get(args, "session_id") && !json_object_get(args, "session")) {
        (void)json_object_set(args, "session", json_object_get(args, "session_id"));
        (void)json_object_del(args, "session_id");
    }
    return args;
}

/* ---- handlers ---- */

static void execute_code(struct mcp_call *call, void *data)
{
    struct mcp_face *face = data;
    const json_t *args = mcp_call_arguments(call);
    json_t *request = json_object();

    copy(request, args, "code");
    copy(request, args, "inputs");
    add_timeout(request, face, args);
    if (add_session(call, face, request, true))
        execute(call, face, request, EXECUTE_RUN);
}

static void run_shell(struct mcp_call *call, void *data)
{
    struct mcp_face *face = data;
    const json_t *args = mcp_call_arguments(call);
    json_t *request = json_pack("{s:s}", "kind", "shell");

    copy(request, args, "command");
    add_timeout(request, face, args);
    if (add_session(call, face, request, true))
        execute(call, face, request, EXECUTE_RUN);
}

static void session_op(struct mcp_call *call, struct mcp_face *face, const char *op)
{
    json_t *request = json_pack("{s:s,s:s}", "kind", "session", "op", op);

    if (add_session(call, face, request, false))
        execute(call, face, request, EXECUTE_OP);
}

static void session_reset(struct mcp_call *call, void *data)
{
    session_op(call, data, "reset");
}

static void session_close(struct mcp_call *call, void *data)
{
    session_op(call, data, "close");
}

static void list_files(struct mcp_call *call, void *data)
{
    session_op(call, data, "list_files");
}

/* A page: what fits into a model's sight. */
enum {
    READ_DEFAULT = 16 << 10
};

/* A file that an earlier result had a link to. */
static json_t *read_kept(const json_t *kept, const char *path, const json_t *args)
{
    const json_t *coded = json_object_get(kept, "blob");
    const json_t *text = coded ? coded : json_object_get(kept, "text");
    json_int_t offset = json_integer_value(json_object_get(args, "offset")),
               length = json_integer_value(json_object_get(args, "length"));
    uint64_t size = json_string_length(text), left;
    auto_free char *bytes = malloc(size + 1);

    if (!bytes)
        return NULL;
    memcpy(bytes, json_string_value(text), size);
    if (coded && !base64_decode(bytes, &size))
        return NULL;
    if ((uint64_t)offset > size)
        offset = (json_int_t)size;
    left = size - (uint64_t)offset;
    if (length <= 0)
        length = READ_DEFAULT;
    if ((uint64_t)length < left)
        left = (uint64_t)length;
    return piece_json(path, bytes + offset, left, (uint64_t)offset, size);
}

static void read_link(struct mcp_call *call, struct mcp_face *face, const char *uri)
{
    auto_json json_t *kept = mcp_files_read(face->files, uri, mcp_call_principal(call));
    json_t *piece = kept ? read_kept(kept, uri, mcp_call_arguments(call)) : NULL;

    if (piece)
        mcp_call_finish(call, content_of_op(json_pack("{s:s,s:o,s:n}", "status", "ok", "value",
                                                      piece, "session")));
    else
        mcp_call_refuse(call, "there is no file of this uri, or no more: run the program again");
}

static void read_file(struct mcp_call *call, void *data)
{
    static const char link[] = "glovebox://file/";
    struct mcp_face *face = data;
    const json_t *args = mcp_call_arguments(call);
    const char *path = json_string_at(args, "path", "");
    json_t *request;

    if (strncmp(path, link, strlen(link)) == 0) {
        read_link(call, face, path);
        return;
    }
    if (!json_object_get(args, "session")) {
        mcp_call_refuse(call, "read_file needs the session that the file is in, or as path the "
                              "uri that a result has for it");
        return;
    }
    request =
        json_pack("{s:s,s:s,s:i}", "kind", "session", "op", "read_file", "length", READ_DEFAULT);
    copy(request, args, "path");
    copy(request, args, "offset");
    copy(request, args, "length");
    if (add_session(call, face, request, false))
        execute(call, face, request, EXECUTE_OP);
}

static void write_file(struct mcp_call *call, void *data)
{
    const json_t *args = mcp_call_arguments(call);
    const json_t *text = json_object_get(args, "text"), *base64 = json_object_get(args, "base64");
    json_t *request, *content;

    if (!text == !base64) {
        mcp_call_refuse(call, "write_file takes one of text and base64");
        return;
    }
    content = text ? json_incref(json_shared(text)) : json_pack("{s:O}", "base64", base64);
    request = json_pack("{s:s,s:s,s:{s:o}}", "kind", "session", "op", "write_file", "files",
                        json_string_at(args, "path", ""), content);
    if (add_session(call, data, request, true))
        execute(call, data, request, EXECUTE_OP);
}

/* ---- the table ---- */

static const struct tool_row tools[] = {
    { "execute_code", "Run Python", NULL,
      "\"code\": {\"type\": \"string\", \"description\": \"A whole Python program\"}, "
      "\"inputs\": {\"type\": \"object\", \"description\": \"Variables that the program finds, by "
      "name\"}, " TIMEOUT_PROPERTY,
      "code", NULL, TOOL_RUNS | TOOL_KEEPS, execute_code },
    { "run_shell", "Run a shell command", NULL,
      "\"command\": {\"type\": \"string\", \"description\": \"For bash, or "
      "sh\"}, " TIMEOUT_PROPERTY,
      "command", NULL, TOOL_RUNS | TOOL_SHELL | TOOL_KEEPS, run_shell },
    { "session_reset", "Reset a session",
      "Forgets everything in a session, its files too. The handle stays good.", HANDLE_PROPERTY,
      "session", NAME_OUTPUT, TOOL_SESSIONS | TOOL_REPEATS, session_reset },
    { "session_close", "Close a session", "Ends a session and everything in it.", HANDLE_PROPERTY,
      "session", NAME_OUTPUT, TOOL_SESSIONS | TOOL_REPEATS, session_close },
    { "list_files", "List a session's files",
      "Lists the files in the workspace of a session, with their sizes.", HANDLE_PROPERTY,
      "session",
      "\"files\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"properties\": "
      "{\"path\": {\"type\": \"string\"}, \"bytes\": {\"type\": \"integer\"}}}}, \"is_whole\": "
      "{\"type\": \"boolean\"}",
      TOOL_SESSIONS | TOOL_READS, list_files },
    { "read_file", "Read a session's file",
      "Reads a file in the workspace of a session, or one that a result has a uri for: as text "
      "where "
      "it is UTF-8, else as base64. Of a large one 16 KiB at a time, unless length says otherwise.",
      HANDLE_PROPERTY ", \"path\": {\"type\": \"string\", \"maxLength\": 4096, \"description\": "
                      "\"Relative to the session's workspace, or a uri glovebox://file/...\"}"
                      ", \"offset\": {\"type\": \"integer\", \"minimum\": 0, \"description\": "
                      "\"First byte\"}, \"length\": {\"type\": \"integer\", \"minimum\": 1, "
                      "\"maximum\": 8388608, \"description\": \"How many bytes at most\"}",
      "path",
      "\"path\": {\"type\": \"string\"}, \"text\": {\"type\": \"string\"}, \"base64\": {\"type\": "
      "\"string\"}, \"bytes\": {\"type\": \"integer\", \"description\": \"Of the whole file\"}, "
      "\"offset\": {\"type\": \"integer\"}, \"length\": {\"type\": \"integer\"}, \"is_whole\": "
      "{\"type\": \"boolean\"}",
      TOOL_SESSIONS | TOOL_READS, read_file },
    { "write_file", "Write a session's file",
      "Writes a file into the workspace of a session, in place of what is there; directories are "
      "made. Takes one of text and base64; \"new\" as session begins one.",
      HANDLE_PROPERTY ", " PATH_PROPERTY
                      ", \"text\": {\"type\": \"string\", \"description\": \"What goes into it\"}, "
                      "\"base64\": {\"type\": \"string\", \"description\": \"The same, for what is "
                      "not text\"}",
      "session path", NAME_OUTPUT, TOOL_SESSIONS | TOOL_REPEATS, write_file },
};

/* ---- descriptors ---- */

/* What a client may tell its user, or ask about: a program in its box destroys nothing. */
static json_t *annotations_of(const struct mcp_face *face, const struct tool_row *t)
{
    bool reads = (t->flags & TOOL_READS) != 0;
    bool reaches_out = t->flags & TOOL_RUNS && engine_reaches_out(face->spec.engine);

    return json_pack("{s:s,s:b,s:b,s:b,s:b}", "title", t->title, "readOnlyHint", reads,
                     "destructiveHint", reaches_out || (t->flags & TOOL_REPEATS) != 0,
                     "idempotentHint", reads || (t->flags & TOOL_REPEATS) != 0, "openWorldHint",
                     reaches_out);
}

static json_t *names_of(const char *words)
{
    json_t *list = json_array();

    while (*words) {
        size_t len = strcspn(words, " ");

        (void)json_array_append_new(list, json_stringn(words, len));
        words += len + (words[len] == ' ');
    }
    return list;
}

static json_t *input_schema(const struct mcp_face *face, const struct tool_row *t)
{
    bool has_session = face->has_sessions && t->flags & TOOL_KEEPS;
    auto_free char *text = NULL;
    json_t *properties;

    if (asprintf(&text, "{%s%s%s}", t->properties, has_session ? ", " : "",
                 has_session ? SESSION_PROPERTY : "") < 0)
        return NULL;
    properties = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     names_of(t->required), "additionalProperties", 0);
}

/* What the two tools that run something say of themselves, before what is configured. */
struct runner {
    const char *request; /* whose instructions follow */
    const char *what;    /* it runs */
    const char *kept;    /* in a session */
};
static const struct runner runners[] = {
    { "{\"kind\":\"python\"}", "Runs a Python program", "variables, imports and files" },
    { "{\"kind\":\"shell\"}", "Runs one shell command",
      "directory, variables, functions, files and jobs; what a job prints later is seen only if it "
      "goes to a file" },
};

/* What a model has to know of sessions, with their times. The caller frees it. */
static char *sessions_note(const struct mcp_face *face, const struct runner *r)
{
    struct engine_session_times times = engine_session_times(face->spec.engine);
    char *text = NULL;

    if (asprintf(
            &text,
            " Each call stands alone unless it names a session: pass \"new\" as session to begin "
            "one, and the handle that the result has there to go on in it, with its %s. A session "
            "ends after %llu minutes without a call, and after %llu hours in any case.",
            r->kept, (unsigned long long)(times.idle_ms + 59999) / 60000,
            (unsigned long long)(times.life_ms + 3599999) / 3600000) < 0)
        return NULL;
    return text;
}

static char *description_of(const struct mcp_face *face, const struct tool_row *t)
{
    const struct runner *r = &runners[t->flags & TOOL_SHELL ? 1 : 0];
    auto_free char *instructions = NULL;
    auto_free char *note = face->has_sessions ? sessions_note(face, r) : NULL;
    char *text = NULL;

    if (t->description)
        return strdup(t->description);
    instructions = gb_instructions(face->spec.engine, r->request);
    if (!instructions ||
        asprintf(&text, "%s in a sandbox.%s\n\n%s", r->what, note ? note : "", instructions) < 0)
        return NULL;
    return text;
}

static json_t *output_schema(const struct tool_row *t)
{
    auto_free char *text = NULL;

    if (t->flags & TOOL_RUNS)
        return json_loads(result_schema, JSON_REJECT_DUPLICATES, NULL);
    if (asprintf(&text, "{\"type\": \"object\", \"properties\": {%s}}", t->output) < 0)
        return NULL;
    return json_loads(text, JSON_REJECT_DUPLICATES, NULL);
}

static json_t *descriptor_of(const struct mcp_face *face, const struct tool_row *t)
{
    auto_free char *description = description_of(face, t);

    return json_pack("{s:s,s:s,s:s?,s:o,s:o,s:o}", "name", t->name, "title", t->title,
                     "description", description, "inputSchema", input_schema(face, t),
                     "outputSchema", output_schema(t), "annotations", annotations_of(face, t));
}

static bool is_offered(const struct mcp_face *face, const struct tool_row *t)
{
    if (face->spec.is_code_mode)
        return t == &tools[0];
    return (face->has_shell || !(t->flags & TOOL_SHELL)) &&
           (face->has_sessions || !(t->flags & TOOL_SESSIONS));
}

int tools_register(struct mcp_face *face, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (is_offered(face, &tools[i]) &&
            mcp_server_add_lenient_tool(face->server, descriptor_of(face, &tools[i]),
                                        read_leniently, tools[i].run, face, err) < 0)
            return -1;
    return 0;
}

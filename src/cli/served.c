#include "cli/served.h"

#include "base/own.h"
#include "cli/io.h"
#include "engine/loop.h"

static const struct option_spec specs[] = {
    { 'j', "jobs", OPT_COUNT, offsetof(struct args, jobs), "N", "how many programs run at once",
      "four a processor" },
    { 0, "pool", OPT_KEY_COUNT, offsetof(struct args, config), "N", "how many boxes to keep ready",
      NULL },
    { 0, "code-mode", OPT_KEY_FLAG, offsetof(struct args, config), NULL,
      "offer execute_code alone; with --mcp, the other servers' tools are inside", NULL },
    { 0, "ask-timeout", OPT_KEY_SECONDS, offsetof(struct args, config), "SECONDS",
      "how long a program waits for its approval", "600" },
};
const struct option_group served_options = { "Programs", specs, ARRAY_LEN(specs) };

/* Clients are told with each call; whoever started the server should not have to wait for that. */
int served_watch(struct gb_engine *engine, int known)
{
    struct gb_err err = { 0 };

    if (known != 0 || !engine)
        return known;
    known = engine_can_hold(engine, &err);
    if (known < 0) {
        gb_err_prefix(&err, "no program can run here");
        message_err(&err);
    }
    return known;
}

/* Contents of files are wanted for the client to read, within what is reasonable to keep. */
int served_settings(const struct args *args, json_t *config, struct mcp_face_spec *face,
                    struct gb_err *err)
{
    json_t *wait = json_object_get(config, "ask_timeout");

    if (wait && (!json_is_number(wait) || json_number_value(wait) < 0.001 ||
                 json_number_value(wait) > 86400))
        return gb_fail(err, GB_E_INVALID, 0,
                       "ask_timeout: must be a number of seconds, up to a day");
    face->at_once = (unsigned)args->jobs;
    face->ask_ttl_ms = (unsigned)(json_number_value(wait) * 1000);
    (void)json_object_del(config, "ask_timeout");
    face->is_code_mode = json_is_true(json_object_get(config, "code_mode"));
    if (!json_object_get(config, "capture"))
        (void)json_object_set_new(config, "capture", json_string("inline"));
    if (!json_object_get(config, "capture_total"))
        (void)json_object_set_new(config, "capture_total", json_string("16M"));
    return 0;
}

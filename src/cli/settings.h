#pragma once
/* The options that configure the engine, the configuration file, and the engine itself. */
#include <jansson.h>

#include "base/err.h"
#include "cli/cli.h"

struct event_base;
struct gb_engine;

#define SETTINGS_TIMEOUT "30" /* the engine's default, as --help and messages show it */

extern const struct option_group limit_options;
extern const struct option_group policy_options;  /* what code may say */
extern const struct option_group consent_options; /* who else is to agree */
extern const struct option_group box_options;
extern const struct option_group mount_options;   /* -m */
extern const struct option_group capture_options; /* what results tell of files */
extern const struct option_group audit_options;   /* --audit and what belongs to it */
extern const struct option_group config_options;  /* --config alone */
extern const struct option_group check_options;   /* of these what a check has a use for */
extern const struct option_group unused_options;  /* the rest, which a check takes too */

extern const struct option_group shell_options;        /* of commands: which shell, and how */
extern const struct option_group command_rule_options; /* what commands may say */
extern const struct option_group spill_options;

/* How many requests to have under way: as many as there are processors for us. */
int default_jobs(void);

/* The engine's configuration: the file (--config, or the XDG configuration folder's, tightened by
 * ./glovebox.json) with the command line on top. The caller drops the reference. */
int settings_load(const struct args *args, json_t **ret, struct gb_err *err) gb_nodiscard;

/* Make an engine that Ctrl-C wakes, in a process that its guests cannot look into. On failure
 * returns -1 and an object {"type", "message", "hint"}, NULL when memory ran out; its message names
 * the option, or the file, that a wrong setting came from. */
int engine_open(const struct args *args, const json_t *config, struct gb_engine **ret,
                json_t **ret_error) gb_nodiscard;

/* The same on a loop that is there already (engine/loop.h). */
int engine_open_on(struct event_base *base, const struct args *args, const json_t *config,
                   struct gb_engine **ret, json_t **ret_error) gb_nodiscard;

/* The same for a command that has no loop: signals keep their default action. */
int engine_open_plain(const struct args *args, const json_t *config, struct gb_engine **ret,
                      json_t **ret_error) gb_nodiscard;

/* For auto_engine. */
void engine_closep(struct gb_engine **engine);

#define auto_engine __attribute__((cleanup(engine_closep)))

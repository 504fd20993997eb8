#pragma once
/*
 * Settings: what an operator configures and a request may tighten. One table knows their names,
 * kinds and ranges; configuration, requests and messages all come from it.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Choices are in the order of the table in settings.c, loosest first. */
enum isolation_choice {
    ISOLATE_NONE,
    ISOLATE_PROCESS,
    ISOLATE_LANDLOCK,
    ISOLATE_NAMESPACES,
    ISOLATE_AUTO
};
enum policy_choice {
    POLICY_OFF,
    POLICY_STANDARD,
    POLICY_STRICT,
    POLICY_DEFAULT /* standard where the kernel holds the box, else strict */
};
enum patterns_choice {
    PATTERNS_OFF,
    PATTERNS_WARN,
    PATTERNS_BLOCK,
    PATTERNS_DEFAULT /* by policy: block under strict, warn under standard, else off */
};
enum approve_choice {
    APPROVE_NEVER,
    APPROVE_ASK,
    APPROVE_ALWAYS,
    APPROVE_DEFAULT /* never where the kernel holds the box, else ask */
};
enum network_choice {
    NETWORK_HOST,
    NETWORK_NONE
};

enum capture_choice {
    CAPTURE_INLINE, /* what is in the files comes with the result */
    CAPTURE_LIST,
    CAPTURE_OFF
};

/* All of one type, so that the table can address them. */
struct settings {
    uint64_t timeout_ms;
    uint64_t memory_bytes;
    uint64_t disk_bytes;
    uint64_t processes;
    uint64_t open_files;
    uint64_t cpu_ms; /* 0: none */
    uint64_t stdout_bytes;
    uint64_t stderr_bytes;
    uint64_t tool_calls;
    uint64_t isolation;
    uint64_t policy;
    uint64_t patterns;
    uint64_t approve;
    uint64_t network;
    uint64_t backend;
    uint64_t capture;
    uint64_t capture_file_bytes;
    uint64_t capture_mount_bytes;
    uint64_t capture_total_bytes;
    uint64_t capture_files;
    uint64_t spill_bytes;
};

/* The defaults of the contract. */
struct settings settings_default(void);

/* Take the setting that configuration key `key` names. Returns 1 if there is one, 0 if there is
 * none, -1 with err if the value will not do. */
int settings_configure(struct settings *s, const char *key, const json_t *value,
                       struct gb_err *err);

/* Take from `found`, a configuration that nobody vouches for, what is tighter than `config` has it:
 * the timeout and limits. `ignored` gets the names of all other keys. Fails on a limit whose value
 * will not do. */
int settings_tighten(json_t *config, const json_t *found, json_t *ignored,
                     struct gb_err *err) gb_nodiscard;

/* The configuration keys of the table, one after the other; NULL after the last. */
const char *settings_key(size_t i);

/* The same as requests call them, and whether they are below "limits" there. */
const char *settings_request_key(size_t i, bool *ret_in_limits);

/* The same for a request's key ("limits" is looked into): may it be so, where `configured` is what
 * the operator said? `allowed` is the array of keys that a request may loosen, or NULL. */
int settings_request(struct settings *s, const struct settings *configured, const char *key,
                     const json_t *value, const json_t *allowed, struct gb_err *err);

/* The remedy for a request that asked for more of this key: adds it to err and returns -1. */
int settings_fail_looser(const char *key, struct gb_err *err);

/* Does the kernel hold a box with these settings? */
bool settings_is_held(const struct settings *s);

/* What the settings come to: the choice, or what stands for it where none was made. */
enum policy_choice settings_policy(const struct settings *s);
enum patterns_choice settings_patterns(const struct settings *s);
enum approve_choice settings_approve(const struct settings *s);

/* By its name in requests. */
const char *isolation_name(uint64_t isolation);
const char *policy_name(uint64_t policy);
const char *patterns_name(uint64_t choice);

/* All of them by their names in the configuration: times in milliseconds, sizes in bytes, choices
 * by name. */
json_t *settings_json(const struct settings *s);

/* "512M", "1.5s", "64": a limit's value for people, by its name in results. */
void settings_limit_text(const struct settings *s, const char *limit, char *ret, size_t size);

/* The same as a number, or 0. */
uint64_t settings_limit_value(const struct settings *s, const char *limit);

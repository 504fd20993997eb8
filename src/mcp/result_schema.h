#pragma once
/* The result of a run as JSON Schema: what structuredContent is, as far as a model needs to know. Short,
 * since hosts put it before the model; with one type a place, since not all of them take more. */

#define SESSIONS_NOTE                                                                             \
    " Each call stands alone unless it names a session: pass \"new\" as session to begin one, and " \
    "the handle that the result has there to go on in it."

#define OR_NULL(schema) "{\"anyOf\": [" schema ", {\"type\": \"null\"}]}"

#define RESULT_SCHEMA                                                                              \
    "{\"type\": \"object\", \"required\": [\"status\", \"exit_code\", \"stdout\", \"stderr\"], "   \
    "\"properties\": {"                                                                            \
    "\"status\": {\"type\": \"string\", \"enum\": [\"ok\", \"error\", \"rejected\", \"timeout\", " \
    "\"limit\", \"crashed\", \"cancelled\", \"failed\"], \"description\": \"error: it raised or "  \
    "exited non-zero; rejected: nothing ran, findings say why; failed: it could not be run\"}, "   \
    "\"exit_code\": {\"type\": \"integer\"}, "                                                     \
    "\"stdout\": {\"type\": \"string\"}, "                                                         \
    "\"stderr\": {\"type\": \"string\"}, "                                                         \
    "\"stdout_truncated\": {\"type\": \"boolean\"}, "                                              \
    "\"stderr_truncated\": {\"type\": \"boolean\"}, "                                              \
    "\"value\": {\"description\": \"Of the last expression: as JSON where it is, else its repr\", " \
    "\"anyOf\": [{\"type\": \"object\"}, {\"type\": \"array\", \"items\": {\"anyOf\": "            \
    "[{\"type\": \"object\"}, {\"type\": \"array\"}, {\"type\": \"string\"}, {\"type\": "          \
    "\"number\"}, {\"type\": \"boolean\"}, {\"type\": \"null\"}]}}, {\"type\": \"string\"}, "      \
    "{\"type\": \"number\"}, {\"type\": \"boolean\"}, {\"type\": \"null\"}]}, "                    \
    "\"has_value\": {\"type\": \"boolean\"}, "                                                     \
    "\"error\": " OR_NULL(                                                                         \
        "{\"type\": \"object\", \"properties\": {\"type\": {\"type\": \"string\"}, \"message\": "  \
        "{\"type\": \"string\"}}}") ", "                                                           \
    "\"limit\": " OR_NULL("{\"type\": \"string\"}") ", "                                           \
    "\"findings\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}, "                     \
    "\"files\": {\"type\": \"array\", \"description\": \"Created, changed and deleted files\", "   \
    "\"items\": {\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}, "        \
    "\"bytes\": {\"type\": \"integer\"}, \"change\": {\"type\": \"string\"}, \"uri\": {\"type\": " \
    "\"string\", \"description\": \"For resources/read, for a while\"}}}}, "                       \
    "\"session\": " OR_NULL(                                                                       \
        "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\", "                \
        "\"description\": \"The handle\"}, \"state\": {\"type\": \"string\", \"description\": "    \
        "\"new, intact, or rolled_back: the call was killed and undone\"}}}") "}}"

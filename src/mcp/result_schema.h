#pragma once
/* The result of a run as JSON Schema: what structuredContent is. */

#define SESSIONS_NOTE                                                                             \
    " Each call stands alone unless it names a session: pass \"new\" as session to begin one, and " \
    "the handle that the result has there to go on in it."

#define RESULT_SCHEMA                                                                              \
    "{\"type\": \"object\", \"required\": [\"status\", \"exit_code\", \"stdout\", \"stderr\"], "   \
    "\"properties\": {"                                                                            \
    "\"status\": {\"type\": \"string\", \"enum\": [\"ok\", \"error\", \"rejected\", \"timeout\", " \
    "\"limit\", \"crashed\", \"cancelled\", \"failed\"], \"description\": \"ok; error: it raised " \
    "or exited non-zero; rejected: nothing ran, findings say why; timeout; limit: which one is in " \
    "limit; crashed: killed by a signal; cancelled; failed: it could not be run\"}, "              \
    "\"exit_code\": {\"type\": \"integer\"}, "                                                     \
    "\"stdout\": {\"type\": \"string\"}, "                                                         \
    "\"stderr\": {\"type\": \"string\"}, "                                                         \
    "\"stdout_truncated\": {\"type\": \"boolean\"}, "                                              \
    "\"stderr_truncated\": {\"type\": \"boolean\"}, "                                              \
    "\"stdout_bytes\": {\"type\": \"integer\", \"minimum\": 0}, "                                  \
    "\"stderr_bytes\": {\"type\": \"integer\", \"minimum\": 0}, "                                  \
    "\"value\": {\"description\": \"Of the last expression: as JSON where it is, else its repr\"}, " \
    "\"has_value\": {\"type\": \"boolean\"}, "                                                     \
    "\"error\": {\"type\": [\"object\", \"null\"], \"properties\": {\"type\": {\"type\": "         \
    "\"string\"}, \"message\": {\"type\": \"string\"}}}, "                                         \
    "\"findings\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}, "                     \
    "\"limit\": {\"type\": [\"string\", \"null\"]}, "                                              \
    "\"files\": {\"type\": \"array\", \"description\": \"Created, changed and deleted files\", "   \
    "\"items\": {\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}, "        \
    "\"mount\": {\"type\": \"string\"}, \"bytes\": {\"type\": \"integer\"}, \"change\": {\"type\": " \
    "\"string\"}, \"uri\": {\"type\": \"string\", \"description\": \"For resources/read, for a "   \
    "while\"}}}}, "                                                                                \
    "\"tool_calls\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}, "                   \
    "\"session\": {\"type\": [\"object\", \"null\"], \"description\": \"name is the handle; "      \
    "state is new, intact, or rolled_back if the call was killed and undone\"}, "                  \
    "\"outputs\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}, "                      \
    "\"isolation\": {\"type\": [\"object\", \"null\"]}, "                                          \
    "\"policy\": {\"type\": [\"string\", \"null\"]}, "                                             \
    "\"risk\": {\"type\": \"integer\"}, "                                                          \
    "\"usage\": {\"type\": [\"object\", \"null\"]}, "                                              \
    "\"timings\": {\"type\": [\"object\", \"null\"]}}}"

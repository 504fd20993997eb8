#pragma once
/*
 * What clients of a server are told when the engine could not run what they asked for. This is the
 * one place that decides it, for /v1 and for MCP: where files lie on the host, which interpreter is
 * missing, what a system call said, is for the operator, and goes to the server's log.
 */
#include <jansson.h>

/* Take out of a result what is not for clients. Returns what was taken out of its error, as text
 * that the caller frees; NULL: nothing. */
char *remote_censor(json_t *result);

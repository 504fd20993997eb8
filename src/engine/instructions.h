#pragma once
/* The text that tells a model how to write programs for an engine as it is configured. */
struct gb_engine;

/* `request` may be NULL, and needs no code. The caller frees it; NULL when memory ran out. A
 * request that cannot be read gives what gb_explain() would. */
char *instructions_text(struct gb_engine *engine, const char *request);

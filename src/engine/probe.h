#pragma once
struct gb_engine;

/* gb_probe() */
char *probe_shell(struct gb_engine *engine, const char *options);

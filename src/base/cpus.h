#pragma once
/* How many processors this process may use; at least 1. */
unsigned cpus_usable(void);

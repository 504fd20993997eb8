/*
 * The pages that a guest has to fetch or copy before it has run anything. They are most of what a
 * small run costs, so the zygote lays out its memory for them once.
 */
#pragma once

/* In a zygote that will make many guests, when all is loaded. */
void pages_prepare(void);

/* And when more has been allocated, and given back, since. */
void pages_fill(void);

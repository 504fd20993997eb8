/* Prints the keys that a request may have, one a line: test_stalls.py. */
#include <stdio.h>

#include "engine/request.h"

int main(void)
{
    for (size_t i = 0; request_key(i); i++)
        puts(request_key(i));
    return 0;
}

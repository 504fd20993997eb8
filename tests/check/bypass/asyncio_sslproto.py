# A module that only asyncio loaded.
# reaches: ssl
import asyncio
REACHED = asyncio.sslproto.ssl

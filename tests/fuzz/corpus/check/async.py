import asyncio
async def f(a):
    async with a as b, c: pass
    async for d in e:
        yield await d
    return [g async for g in h]
await asyncio.gather(f(1))
asyncio.create_subprocess_exec('x')
asyncio.log.logging

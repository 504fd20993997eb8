#--- gather_workers
import asyncio


async def fetch(n):
    await asyncio.sleep(0.001 * (3 - n))
    return n * 10


async def main():
    results = await asyncio.gather(*(fetch(n) for n in range(3)))
    print(results)
    assert results == [0, 10, 20]


asyncio.run(main())
#--- top_level_await
import asyncio


async def answer():
    await asyncio.sleep(0)
    return 42


value = await answer()
print(value)
#--- producer_consumer
import asyncio


async def producer(queue, n):
    for i in range(n):
        await queue.put(i)
    await queue.put(None)


async def consumer(queue, out):
    while (item := await queue.get()) is not None:
        out.append(item * item)


async def main():
    queue, out = asyncio.Queue(maxsize=2), []
    await asyncio.gather(producer(queue, 5), consumer(queue, out))
    print(out)
    assert out == [0, 1, 4, 9, 16]


asyncio.run(main())
#--- timeout_handled
import asyncio


async def main():
    try:
        await asyncio.wait_for(asyncio.sleep(10), timeout=0.01)
    except asyncio.TimeoutError:
        print("too slow")
    else:
        raise AssertionError("it waited")


asyncio.run(main())
#--- semaphore_limits
import asyncio


async def main():
    limit = asyncio.Semaphore(2)
    running = peak = 0

    async def job(n):
        nonlocal running, peak
        async with limit:
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0.001)
            running -= 1
        return n

    done = await asyncio.gather(*[job(n) for n in range(6)])
    print(peak, sum(done))
    assert peak == 2


asyncio.run(main())
#--- async_generator
import asyncio


async def ticker(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)


async def main():
    seen = []
    async for tick in ticker(4):
        seen.append(tick)
    squares = [t * t async for t in ticker(4) if t]
    print(seen, squares)
    assert squares == [1, 4, 9]


asyncio.run(main())
#--- async_context_manager
import asyncio


class Connection:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("open")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, error, trace):
        self.log.append("close" if error is None else f"close after {error}")
        return isinstance(error, ValueError)

    async def query(self, text):
        if not text:
            raise ValueError("empty query")
        return text.upper()


async def main():
    log = []
    async with Connection(log) as c:
        print(await c.query("select"))
    async with Connection(log) as c:
        await c.query("")
    print(log)
    assert log[-1] == "close after empty query"


asyncio.run(main())
#--- create_task_and_cancel
import asyncio


async def forever(log):
    try:
        while True:
            await asyncio.sleep(1)
    except asyncio.CancelledError:
        log.append("cancelled")
        raise


async def main():
    log = []
    task = asyncio.create_task(forever(log))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    print(log, task.cancelled())
    assert log == ["cancelled"]


asyncio.run(main())
#--- as_completed_order
import asyncio


async def job(delay, name):
    await asyncio.sleep(delay)
    return name


async def main():
    jobs = [job(0.03, "slow"), job(0.001, "fast"), job(0.015, "middle")]
    order = [await finished for finished in asyncio.as_completed(jobs)]
    print(order)
    assert order[0] == "fast" and order[-1] == "slow"


asyncio.run(main())
#--- events_and_locks
import asyncio


async def waiter(event, name, log):
    await event.wait()
    log.append(name)


async def main():
    event, lock, log = asyncio.Event(), asyncio.Lock(), []
    tasks = [asyncio.create_task(waiter(event, n, log)) for n in "abc"]
    async with lock:
        assert lock.locked()
        await asyncio.sleep(0)
        event.set()
    await asyncio.gather(*tasks)
    print(log)
    assert sorted(log) == ["a", "b", "c"]


asyncio.run(main())
#--- exceptions_gathered
import asyncio


async def risky(n):
    if n % 2:
        raise ValueError(f"odd {n}")
    return n


async def main():
    results = await asyncio.gather(*(risky(n) for n in range(4)), return_exceptions=True)
    good = [r for r in results if not isinstance(r, Exception)]
    bad = [str(r) for r in results if isinstance(r, Exception)]
    print(good, bad)
    assert good == [0, 2] and bad == ["odd 1", "odd 3"]


asyncio.run(main())
#--- task_group
# needs: 3.11
import asyncio


async def part(n, out):
    await asyncio.sleep(0)
    out[n] = n ** 3


async def main():
    out = {}
    async with asyncio.TaskGroup() as group:
        for n in range(4):
            group.create_task(part(n, out))
    print(out)
    assert out[3] == 27


asyncio.run(main())
#--- retry_with_backoff
import asyncio
import random


class Flaky:
    def __init__(self, failures):
        self.failures = failures

    async def __call__(self):
        if self.failures:
            self.failures -= 1
            raise ConnectionError("try again")
        return "done"


async def retry(operation, attempts=4, delay=0.001):
    for attempt in range(1, attempts + 1):
        try:
            return attempt, await operation()
        except ConnectionError as error:
            if attempt == attempts:
                raise
            print(f"attempt {attempt}: {error}")
            await asyncio.sleep(delay * 2 ** attempt * random.random())


print(asyncio.run(retry(Flaky(2))))
#--- awaitable_class
import asyncio


class Later:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return self.value


class Countdown:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


async def main():
    print(await Later(5), [n async for n in Countdown(3)])


asyncio.run(main())
#--- tools_called
import asyncio


async def lookup(key):
    await asyncio.sleep(0)
    return {"paris": 18, "rome": 24}.get(key)


cities = ["paris", "rome", "oslo"]
temperatures = await asyncio.gather(*(lookup(city) for city in cities))
known = {c: t for c, t in zip(cities, temperatures) if t is not None}
print(known)
assert known == {"paris": 18, "rome": 24}
#--- condition_variable
import asyncio


async def main():
    condition, items, got = asyncio.Condition(), [], []

    async def taker():
        async with condition:
            await condition.wait_for(lambda: len(items) >= 2)
            got.extend(items)

    task = asyncio.create_task(taker())
    for n in (1, 2):
        await asyncio.sleep(0)
        async with condition:
            items.append(n)
            condition.notify_all()
    await task
    print(got)
    assert got == [1, 2]


asyncio.run(main())

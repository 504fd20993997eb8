#--- age_in_years
from datetime import date


def age(born, today):
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


assert age(date(2000, 2, 29), date(2024, 2, 28)) == 23
assert age(date(2000, 2, 29), date(2024, 2, 29)) == 24
print(age(date(1990, 6, 15), date(2024, 6, 14)))
#--- business_days
from datetime import date, timedelta

holidays = {date(2024, 1, 1), date(2024, 12, 25)}


def business_days(start, end):
    day = start
    while day <= end:
        if day.weekday() < 5 and day not in holidays:
            yield day
        day += timedelta(days=1)


days = list(business_days(date(2023, 12, 29), date(2024, 1, 3)))
print([d.isoformat() for d in days])
assert len(days) == 3
#--- parse_formats
from datetime import datetime

formats = ["%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y", "%Y-%m-%dT%H:%M:%S"]


def parse(text):
    for f in formats:
        try:
            return datetime.strptime(text, f)
        except ValueError:
            continue
    raise ValueError(f"unknown date: {text}")


for text in ("2024-03-05", "05/03/2024", "Mar 05, 2024", "2024-03-05T12:30:00"):
    print(parse(text).isoformat())
assert parse("05/03/2024").date() == parse("2024-03-05").date()
#--- time_zones
from datetime import datetime, timedelta, timezone

utc = datetime(2024, 6, 1, 12, 0, tzinfo=timezone.utc)
tokyo = timezone(timedelta(hours=9), "JST")
local = utc.astimezone(tokyo)
print(local.isoformat(), local.tzname())
assert local.hour == 21 and local == utc
assert local.utcoffset() == timedelta(hours=9)
#--- calendar_grid
from datetime import date, timedelta


def month(year, number):
    day = date(year, number, 1)
    lines = ["Mo Tu We Th Fr Sa Su"]
    row = ["  "] * day.weekday()
    while day.month == number:
        row.append(f"{day.day:2}")
        if len(row) == 7:
            lines.append(" ".join(row))
            row = []
        day += timedelta(days=1)
    if row:
        lines.append(" ".join(row))
    return "\n".join(lines)


print(month(2024, 2))
assert month(2024, 2).splitlines()[-1].strip() == "26 27 28 29"
#--- timedelta_humanise
from datetime import timedelta


def human(delta):
    seconds = int(delta.total_seconds())
    parts = []
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'s' * (count != 1)}")
    return ", ".join(parts) or "now"


print(human(timedelta(days=1, hours=2, seconds=5)), "|", human(timedelta()))
assert human(timedelta(minutes=61)) == "1 hour, 1 minute"
#--- events_per_weekday
from collections import Counter
from datetime import datetime

stamps = ["2024-05-06 10:00", "2024-05-07 11:30", "2024-05-13 09:15", "2024-05-12 23:59"]
when = [datetime.strptime(s, "%Y-%m-%d %H:%M") for s in stamps]
per_day = Counter(w.strftime("%A") for w in when)
print(per_day.most_common(1))
assert per_day["Monday"] == 2
#--- iso_weeks
from datetime import date

for d in (date(2020, 12, 31), date(2021, 1, 1), date(2021, 1, 4)):
    year, week, weekday = d.isocalendar()
    print(f"{d} is {year}-W{week:02}-{weekday}")
assert date.fromisocalendar(2021, 1, 1) == date(2021, 1, 4)
#--- overlap_of_ranges
from datetime import date


def overlap(a, b):
    start, end = max(a[0], b[0]), min(a[1], b[1])
    return max((end - start).days + 1, 0)


jan = date(2024, 1, 1), date(2024, 1, 31)
trip = date(2024, 1, 25), date(2024, 2, 10)
print(overlap(jan, trip))
assert overlap(jan, trip) == 7 and overlap(jan, (date(2024, 3, 1), date(2024, 3, 2))) == 0
#--- last_day_of_month
from datetime import date, timedelta


def last_day(year, month):
    first_of_next = date(year + month // 12, month % 12 + 1, 1)
    return first_of_next - timedelta(days=1)


print([last_day(2023, m).day for m in range(1, 13)])
assert last_day(2024, 2).day == 29 and last_day(2024, 12) == date(2024, 12, 31)
#--- epoch_conversion
from datetime import datetime, timezone
import time

moment = datetime(2001, 9, 9, 1, 46, 40, tzinfo=timezone.utc)
assert moment.timestamp() == 1_000_000_000
again = datetime.fromtimestamp(1_000_000_000, tz=timezone.utc)
print(again, time.strftime("%Y", time.gmtime(0)))
assert again == moment
#--- stopwatch
import time


class Stopwatch:
    def __enter__(self):
        self.start = time.monotonic()
        return self

    def __exit__(self, *exc):
        self.elapsed = time.monotonic() - self.start
        return False


with Stopwatch() as watch:
    time.sleep(0.01)
print(watch.elapsed > 0.005)
assert watch.elapsed >= 0.009
#--- recurring_schedule
from datetime import datetime, timedelta
from itertools import count, islice, takewhile


def every(start, **step):
    for n in count():
        yield start + n * timedelta(**step)


start = datetime(2024, 1, 1, 8)
shots = list(islice(every(start, hours=36), 4))
print([s.strftime("%d. %H:%M") for s in shots])
january = list(takewhile(lambda d: d.month == 1, every(start, weeks=1)))
assert len(january) == 5
#--- combine_and_compare
from datetime import date, datetime, time, timedelta

opening = time(9, 30)
closing = time(17)
today = date(2024, 4, 1)
opens, closes = datetime.combine(today, opening), datetime.combine(today, closing)
assert closes - opens == timedelta(hours=7, minutes=30)
for hour in (8, 12, 18):
    now = opens.replace(hour=hour)
    print(hour, "open" if opens <= now < closes else "closed")

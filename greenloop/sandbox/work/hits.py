"""What the tests of a run execute of instrumented files."""

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.result_decoder import decode_events, parse_index

_MAX_SETS, _MAX_MASK_DIGITS = 1_000_000, 50_000
# By path and test a bit mask of the hits of the instrumented file; the test '' is the import.
Hits = dict[str, dict[str, int]]


def collect_hits(result: ProcessResult, key: str, hits: Hits) -> None:
    """Add the hits of each test; what has another form than the guest sends is left out."""
    known: dict[int, tuple[str, int]] = {}
    for event in decode_events(result.channel_data, key)[0]:
        try:
            if event.get("event") == "hits" and event["path"] in hits:
                mask = int(event["mask"][:_MAX_MASK_DIGITS], 16)
                known[parse_index(event["number"], _MAX_SETS)] = event["path"], mask
            elif event.get("event") == "reached":
                for number in event["sets"]:
                    path, mask = known[parse_index(number, _MAX_SETS)]
                    by_test, test = hits[path], str(event["id"])
                    by_test[test] = by_test.get(test, 0) | mask
        except (LookupError, TypeError, ValueError):
            continue

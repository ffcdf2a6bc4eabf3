"""A program that validates `{"schema": …, "instance": …}` and prints `[[path, message], …]`.

It is a separate process so that the time of a schema's patterns on untrusted values is limited.
Without `instance` the schema itself is validated. References to other documents are not followed.
"""

import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any

_MAX_ERRORS, _MAX_MESSAGE_CHARS = 5, 300


def find_errors(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield path and message of each error."""
    import jsonschema  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    schema = request["schema"]
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    try:
        validator.check_schema(schema)
        if "instance" not in request:
            return
        for error in validator(schema, registry=Registry()).iter_errors(request["instance"]):
            yield error.json_path, str(error.message)
    except jsonschema.SchemaError as error:
        yield error.json_path, str(error.message)
    except Unresolvable as error:
        yield "$", f"the schema refers to what it does not hold: {error.ref}"


def main() -> None:
    """Validate the request on standard input."""
    found = itertools.islice(find_errors(json.load(sys.stdin)), _MAX_ERRORS)
    json.dump([[path, message[:_MAX_MESSAGE_CHARS]] for path, message in found], sys.stdout)


if __name__ == "__main__":
    main()

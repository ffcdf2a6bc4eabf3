"""Python source as the bytes of a file, in the encoding that it declares (PEP 263)."""

import io
import tokenize


def decode_source(data: bytes, errors: str = "strict") -> str:
    """Return the decoded source. Raises UnicodeDecodeError only with strict `errors`."""
    return data.decode(_find_encoding(data) or "utf-8-sig", errors)


def encode_source(source: str, errors: str = "surrogateescape") -> bytes:
    """Return source in its declared encoding, or as UTF-8 if that cannot represent it."""
    data = source.encode("utf-8", errors)
    declared = _find_encoding(data)
    try:
        return source.encode(declared) if declared else data
    except UnicodeEncodeError:
        return data


def _find_encoding(data: bytes) -> str:
    """Return the encoding that the first lines declare, '' for UTF-8 or an unknown one."""
    try:
        declared = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        "".encode(declared)
    except (SyntaxError, LookupError):  # LookupError: it is not for texts, such as `hex`
        return ""
    return "" if declared.startswith("utf-8") else declared

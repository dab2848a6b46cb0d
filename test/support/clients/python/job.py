"""
The frame of all Python clients of the matrix: reads the asks as JSON from standard input, has each answered by the
client's own function, prints what came as JSON. A script's settings stand between `docs:begin` and `docs:end`, in the
words of docs/clients.md, for `crawler:password` at 127.0.0.1:8080; here these are variables.
"""
import hashlib
import json
import re
import sys


def told(status, body=b"", trouble=None):
    """What the client saw. `status` may be the target's or the proxy's."""
    return {
        "status": status,
        "text": body[:4096].decode("latin-1"),
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "trouble": trouble,
    }


def status_in(text):
    """The status of the proxy that an error's text names, or None."""
    found = re.search(r"\b(407|50[0-4])\b", text)
    return int(found.group(1)) if found else None


def failed(error):
    """What a client tells by an exception."""
    text = f"{type(error).__name__}: {error}"
    return told(status_in(text), trouble=text)


def upload_of(ask):
    """The body to send, or None for a GET."""
    return None if ask["upload"] is None else open(ask["upload"], "rb").read()


def run(tell):
    """Answers every ask by `tell(ask)`; what that raises is an answer too."""
    answers = []
    for ask in json.load(sys.stdin):
        try:
            answers.append(tell(ask))
        except Exception as error:
            answers.append(failed(error))
    print(json.dumps(answers))

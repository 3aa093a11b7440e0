"""An independent check of AWS Signature Version 4, for requests as received.

Written from the published description of the algorithm and used by the fault
server only: nothing here is shared with the code under test.
"""

import datetime
import hashlib
import hmac
import re
import urllib.parse

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<id>[^/]+)/(?P<date>\d{8})/"
    r"(?P<region>[^/]+)/s3/aws4_request, ?SignedHeaders=(?P<signed>[a-z0-9;-]+), ?"
    r"Signature=(?P<signature>[0-9a-f]{64})$"
)


class Refused(Exception):
    """The request's signature does not hold; `code` is the S3 error code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _canonical_query(query):
    if not query:
        return ""
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        name = urllib.parse.unquote_to_bytes(name)
        value = urllib.parse.unquote_to_bytes(value)
        pairs.append(
            (urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~"))
        )
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def check(method, target, headers, secrets, region, now=None, token=None):
    """Raises Refused unless the request is signed as it should be.

    `headers` maps lower-case names to values, `secrets` key ids to secrets.
    With `token`, the session token must be there and be signed.
    """
    match = AUTHORIZATION.match(headers.get("authorization", ""))
    if not match:
        raise Refused("AccessDenied", "no usable Authorization header")
    if match["id"] not in secrets:
        raise Refused("InvalidAccessKeyId", "unknown key id")
    if match["region"] != region:
        raise Refused(
            "AuthorizationHeaderMalformed",
            f"the region '{match['region']}' is wrong; expecting '{region}'",
        )
    signed = match["signed"].split(";")
    if signed != sorted(signed) or "host" not in signed:
        raise Refused("AccessDenied", "SignedHeaders not sorted or without host")
    for name in headers:
        if name.startswith("x-amz-") and name not in signed:
            raise Refused("AccessDenied", f"{name} is not signed")
    if token is not None:
        if headers.get("x-amz-security-token") != token:
            raise Refused("InvalidToken", "wrong or missing session token")
    elif "x-amz-security-token" in headers:
        raise Refused("InvalidToken", "a session token was not expected")
    stamp = headers.get("x-amz-date", "")
    if now is not None:
        when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(
            tzinfo=datetime.timezone.utc
        )
        if abs(when.timestamp() - now) > 900:
            raise Refused("RequestTimeTooSkewed", "the difference is too large")
    path, _, query = target.partition("?")
    canonical = "\n".join(
        [
            method,
            path,
            _canonical_query(query),
            "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed),
            match["signed"],
            headers.get("x-amz-content-sha256", hashlib.sha256(b"").hexdigest()),
        ]
    )
    scope = f"{match['date']}/{region}/s3/aws4_request"
    to_sign = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            stamp,
            scope,
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = _hmac(("AWS4" + secrets[match["id"]]).encode(), match["date"])
    for part in (region, "s3", "aws4_request"):
        key = _hmac(key, part)
    if _hmac(key, to_sign).hex() != match["signature"]:
        raise Refused("SignatureDoesNotMatch", "canonical request:\n" + canonical)

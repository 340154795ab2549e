"""For schemathesis.ts: requests have a session, and a new one when it has ended."""

import os
import time

import requests
import schemathesis

URL = os.environ.get("SIGN_IN")
# A verification lasts for five minutes.
SECONDS = 120
session = {"cookies": "", "until": 0.0}

if URL:

    @schemathesis.auth(refresh_interval=None)
    class Session:
        def get(self, case, context):
            if time.monotonic() > session["until"]:
                session["cookies"] = requests.get(URL, timeout=60).text
                session["until"] = time.monotonic() + SECONDS
            return session["cookies"]

        def set(self, case, data, context):
            case.headers = {**(case.headers or {}), "Cookie": data, "X-Requested-With": "schemathesis"}


@schemathesis.hook
def after_call(context, case, response):
    # Signed out, deleted, or no longer verified.
    if response.status_code in (401, 403):
        session["until"] = 0.0

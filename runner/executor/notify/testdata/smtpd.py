"""A mail server of aiosmtpd for TestMailToARealServer.

It writes a JSON object a line: first its port, then each mail that it has accepted. It ends when its standard input ends.
"""

import json
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

certificate, key, user, password = sys.argv[1:5]


def say(**what):
    print(json.dumps(what), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        say(
            sender=envelope.mail_from,
            receivers=envelope.rcpt_tos,
            text=envelope.content.decode(),
            encrypted=session.ssl is not None,
            authenticated=bool(session.authenticated),
        )
        return "250 accepted"


def authenticate(server, session, envelope, mechanism, data):
    right = (data.login, data.password) == (user.encode(), password.encode())
    return AuthResult(success=right, handled=False)


context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(certificate, key)
controller = Controller(
    Handler(),
    hostname="127.0.0.1",
    port=int(sys.argv[5]),
    tls_context=context,
    require_starttls=True,
    auth_required=True,
    authenticator=authenticate,
)
controller.start()
say(port=controller.server.sockets[0].getsockname()[1])
sys.stdin.read()
controller.stop()

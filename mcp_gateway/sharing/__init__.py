"""One gateway process serves all chats of an account. A chat's host starts a launcher, which passes messages on.

The launcher keeps each message until the shared process has answered it. If it handed over its descriptors instead, a
killed process would lose the messages that it had read but not answered, and could leave half a reply.
"""

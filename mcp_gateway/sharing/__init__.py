"""One gateway process serves all chats of an account. What a chat's host starts is a launcher, which passes messages.

The launcher keeps each message until the shared process has answered it. Were it to hand over its descriptors instead,
a process that is killed would take along what it had read and not answered, and leave half a reply behind.
"""

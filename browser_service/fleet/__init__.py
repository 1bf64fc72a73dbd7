"""Several hosts as one. A service on one machine has none of this: it is imported with `--hosts` alone.

Read it for hosts elsewhere. `members.py` says what is known of each host, and where a session is; `placements.py` puts
sessions on hosts and takes them away; `lifecycle.py` takes hosts in, empties them and gives them up; `router.py` sends
each call to the host that has its session, and is what the spine takes for its host; `fleet.py` makes and connects
these. Hosts themselves dial in over `carriers/`.
"""

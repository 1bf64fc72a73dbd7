"""A browser that is none: it asks sites as one does, keeps cookies, and knows the little of a page that rules need.

Behind it stands the whole host of the product, so that leases, turns, dialogs and people's requests are the real ones.
"""
